import pytest
from fakes.local import a_cluster

from xlaunch.core.errors import RefusedError
from xlaunch.local import size


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "xlaunch local up --tpu-type v5litepod-16 --slices 2"),
        ({"heads": 2}, "xlaunch local up --tpu-type v5litepod-16 --slices 2 --heads 2"),
        ({"name": "ci"}, "xlaunch local up --tpu-type v5litepod-16 --slices 2 --name ci"),
        (
            {"feature_gates": ("RestartJob",), "time_scale": 0.1},
            "xlaunch local up --tpu-type v5litepod-16 --slices 2 --feature-gate RestartJob --time-scale 0.1",
        ),
        (
            {"machine_type": "ct6e-standard-8t"},
            "xlaunch local up --tpu-type v5litepod-16 --slices 2 --machine-type ct6e-standard-8t",
        ),
    ],
)
def test_up_line(fields, line):
    assert size.up_line(a_cluster(**fields)) == line


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "2 slices of v5litepod-16 and 1 CPU node"),
        ({"slices": 1, "heads": 2}, "1 slice of v5litepod-16 and 2 CPU nodes"),
    ],
)
def test_describe(fields, words):
    assert size.describe(a_cluster(**fields)) == words


@pytest.mark.parametrize("wanted", [{}, {"slices": 1}, {"time_scale": 0.1}])
def test_a_cluster_that_is_large_enough(wanted):
    size.check_size(a_cluster(), a_cluster(**wanted))


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ({"slices": 3}, "xlaunch local up --tpu-type v5litepod-16 --slices 3"),
        ({"heads": 2}, "xlaunch local up --tpu-type v5litepod-16 --slices 2 --heads 2"),
        ({"slices": 1, "heads": 3}, "xlaunch local up --tpu-type v5litepod-16 --slices 2 --heads 3"),
        ({"tpu_type": "v5litepod-32", "slices": 1}, "xlaunch local up --tpu-type v5litepod-32 --slices 1"),
    ],
)
def test_a_cluster_that_is_too_small(wanted, line):
    with pytest.raises(RefusedError) as error:
        size.check_size(a_cluster(), a_cluster(**wanted))
    assert error.value.code == 4
    assert error.value.next == f"xlaunch local down --name local && {line}"


GATED = {"feature_gates": ("RestartJob",)}


def test_a_larger_cluster_keeps_the_gates_of_both():
    with pytest.raises(RefusedError) as error:
        size.check_size(a_cluster(**GATED), a_cluster(slices=3))
    assert error.value.next.endswith("xlaunch local up --tpu-type v5litepod-16 --slices 3 --feature-gate RestartJob")


@pytest.mark.parametrize(("running", "wanted"), [({}, {}), (GATED, {}), (GATED, GATED)])
def test_gates_that_are_on(running, wanted):
    size.check_has_gates(a_cluster(**running), a_cluster(**wanted))


def test_a_gate_that_is_off_names_the_line_that_turns_it_on():
    with pytest.raises(RefusedError, match="runs without JobSet's feature gate RestartJob") as error:
        size.check_has_gates(a_cluster(slices=5, time_scale=0.1), a_cluster(**GATED))
    line = "xlaunch local up --tpu-type v5litepod-16 --slices 5 --feature-gate RestartJob --time-scale 0.1"
    assert (error.value.code, error.value.next) == (4, f"xlaunch local down --name local && {line}")
