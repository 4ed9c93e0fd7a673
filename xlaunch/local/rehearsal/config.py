"""MaxText's `key=value` flags as far as the rehearsal trainer obeys them; names and defaults of MaxText 0.2.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

# src/maxtext/configs/base.yml
DEFAULTS: Mapping[str, Any] = {
    "async_checkpointing": True,
    "base_output_directory": "",
    "checkpoint_period": 10_000,
    "elastic_enabled": False,
    "elastic_max_retries": 10,
    "elastic_min_slice_count": -1,
    "elastic_timeout_seconds": 300,
    "enable_checkpointing": True,
    "enable_single_controller": False,
    "learning_rate_schedule_steps": -1,
    "log_config": True,
    "model_name": "default",
    "run_name": "",
    "save_checkpoint_on_completion": True,
    "steps": 150_001,
}
BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


class Config:
    """The flags as attributes, plus `checkpoint_dir`; `ignored` are the keys that a rehearsal has no use for."""

    def __init__(self, values: Mapping[str, Any], ignored: Sequence[str]) -> None:
        self.values = dict(values)
        self.ignored = tuple(ignored)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def checkpoint_dir(self) -> str:
        """`<base_output_directory>/<run_name>/checkpoints`."""
        return "/".join([self.base_output_directory.rstrip("/"), self.run_name, "checkpoints"])


def parse(argv: Sequence[str], env: Mapping[str, str], now: datetime) -> Config:
    """The config of `CONFIG_FILE key=value …`. Raises ValueError for what MaxText would refuse as well.

    Unlike MaxText, it takes any other key: the list of all of them differs between MaxText's versions.
    """
    values = dict(DEFAULTS)
    ignored = []
    for word in argv[1:]:
        key, equals, text = word.partition("=")
        if not equals:
            raise ValueError(f"{word!r} is not key=value")
        if key in values:
            values[key] = _typed(key, text, DEFAULTS[key])
        else:
            ignored.append(key)
    if values["steps"] == -1:
        values["steps"] = values["learning_rate_schedule_steps"]
    if values["steps"] <= 0:
        raise AssertionError("You must set steps or learning_rate_schedule_steps to a positive integer.")
    if values["elastic_enabled"] and not values["enable_single_controller"]:
        raise ValueError("Elastic training is only supported with Pathways (`enable_single_controller=True`).")
    values["run_name"] = values["run_name"] or env.get("JOBSET_NAME") or f"{values['model_name']}_{now:%Y-%m-%d-%H-%M}"
    return Config(values, ignored)


def _typed(key: str, text: str, default: Any) -> Any:
    if isinstance(default, str):
        return text
    try:
        return BOOLEANS[text.lower()] if isinstance(default, bool) else int(text.replace("_", ""))
    except (KeyError, ValueError):
        kind = "boolean" if isinstance(default, bool) else "integer"
        raise ValueError(f"{key}={text}: not a valid {kind}") from None


def local_path(directory: str, env: Mapping[str, str]) -> Path:
    """Where a directory lies on this machine: `gs://bucket/x` is `$XLAUNCH_BUCKETS/bucket/x`. Raises ValueError."""
    if not directory.startswith("gs://"):
        return Path(directory)
    buckets = env.get("XLAUNCH_BUCKETS")
    if not buckets:
        raise ValueError(f"{directory} needs XLAUNCH_BUCKETS, the directory that stands for gs:// in a rehearsal")
    return Path(buckets) / directory[len("gs://") :]
