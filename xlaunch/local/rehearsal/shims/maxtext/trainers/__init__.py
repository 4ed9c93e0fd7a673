"""Stands in for `maxtext.trainers`."""
