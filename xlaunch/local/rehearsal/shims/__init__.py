"""On the PYTHONPATH of every pod: package names that stand in for MaxText's. Not imported from xlaunch."""
