import pytest

from xlaunch.core import capacity
from xlaunch.core.errors import UsageError


@pytest.mark.parametrize(
    ("flags", "selector", "tolerated"),
    [
        ({}, {}, []),
        ({"on_demand": True}, {}, []),
        ({"spot": True}, {capacity.SPOT: "true"}, [capacity.SPOT]),
        ({"flex": True}, {capacity.FLEX_START: "true"}, [capacity.FLEX_START, capacity.QUEUED]),
        ({"reservation": "r-1"}, {capacity.RESERVATION_NAME: "r-1"}, []),
    ],
)
def test_capacity(flags, selector, tolerated):
    found = capacity.capacity(**flags)
    assert found.selector == selector
    assert [each["key"] for each in found.tolerations] == tolerated


@pytest.mark.parametrize(
    "name", ["R", "a/b", "projects/p/reservations/r", "-r", "r" * 64, "projects/my-proj/reservations/"]
)
def test_what_is_no_reservation(name):
    with pytest.raises(UsageError, match="--reservation"):
        capacity.capacity(reservation=name)
