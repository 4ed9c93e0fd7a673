# ruff: noqa: N999 - the name is MaxText's
"""The old name of MaxText's package; `MaxText.train` is the module of `maxtext.trainers.pre_train`."""

from pathlib import Path

from _xlaunch_shim import give_way

if not give_way(__name__):
    __path__ = [str(Path(__file__).resolve().parent / "maxtext" / "trainers" / "pre_train")]
