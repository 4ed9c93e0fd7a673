import pytest
from fakes.clock import FakeClock

from xlaunch.core.sparing import IDLE_FACTOR, Sparing


def test_the_first_look_is_due_and_one_that_cost_nothing_is_due_again():
    sparing = Sparing(FakeClock().monotonic)
    for _ in range(3):
        assert sparing.due
        with sparing.look():
            pass


@pytest.mark.parametrize("fails", [False, True])
def test_a_costly_look_is_not_due_again_at_once(fails):
    clock = FakeClock()
    sparing = Sparing(clock.monotonic)
    try:
        with sparing.look():
            clock.sleep(4)
            if fails:
                raise OSError
    except OSError:
        pass
    clock.sleep(4 * IDLE_FACTOR - 1)
    assert not sparing.due
    clock.sleep(1)
    assert sparing.due
