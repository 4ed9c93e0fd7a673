"""Stands in for `maxtext.trainers.pre_train`."""
