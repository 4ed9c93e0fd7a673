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
