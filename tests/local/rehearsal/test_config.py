from datetime import UTC, datetime
from pathlib import Path

import pytest

from xlaunch.local.rehearsal.config import DEFAULTS, local_path, parse

NOW = datetime(2026, 7, 6, 10, 30, tzinfo=UTC)


def config(*words, **env):
    return parse(["base.yml", *words], env, NOW)


def test_defaults_are_those_of_maxtext():
    assert config().values == {**DEFAULTS, "run_name": "default_2026-07-06-10-30"}


@pytest.mark.parametrize(
    ("word", "value"),
    [("steps=5_000", 5000), ("steps=5000", 5000), ("elastic_enabled=True", True), ("enable_checkpointing=no", False)],
)
def test_values_are_typed(word, value):
    assert config(word, "enable_single_controller=true").values[word.partition("=")[0]] == value


def test_a_value_may_hold_anything():
    assert config("run_name=a=b c").run_name == "a=b c"


def test_the_last_one_wins():
    assert config("steps=1", "steps=2").steps == 2


def test_a_run_without_a_name_is_named_after_its_jobset():
    assert config(JOBSET_NAME="js").run_name == "js"


def test_other_keys_are_remembered():
    assert config("attention=flash", "ici_fsdp_parallelism=-1").ignored == ("attention", "ici_fsdp_parallelism")


def test_steps_may_come_from_the_schedule():
    assert config("steps=-1", "learning_rate_schedule_steps=7").steps == 7


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["steps"], "'steps' is not key=value"),
        (["steps=many"], "steps=many: not a valid integer"),
        (["elastic_enabled=perhaps"], "elastic_enabled=perhaps: not a valid boolean"),
        (["elastic_enabled=true"], "only supported with Pathways"),
    ],
)
def test_what_maxtext_refuses_is_refused(words, text):
    with pytest.raises(ValueError, match=text):
        config(*words)


def test_no_steps_are_refused():
    with pytest.raises(AssertionError, match="positive integer"):
        config("steps=0")


def test_the_checkpoint_directory():
    assert config("base_output_directory=gs://b/o/", "run_name=r").checkpoint_dir == "gs://b/o/r/checkpoints"


def test_buckets_are_directories():
    assert local_path("gs://b/o/r", {"XLAUNCH_BUCKETS": "/state/buckets"}) == Path("/state/buckets/b/o/r")
    assert local_path("/out/r", {}) == Path("/out/r")
    with pytest.raises(ValueError, match="XLAUNCH_BUCKETS"):
        local_path("gs://b/o/r", {})


def test_an_unknown_attribute_is_an_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = config().nothing
