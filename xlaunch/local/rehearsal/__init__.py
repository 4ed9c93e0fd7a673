"""Stand-ins for the Pathways images and for MaxText: what pods of the embedded cluster run in their place.

Standard library only and Python >= 3.8, since the trainer runs in the pod's own Python. `run.py` starts them.
"""
