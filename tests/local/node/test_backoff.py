import pytest

from xlaunch.local.node.backoff import CrashLoop


def waits(runs):
    """The waits of a container that runs for each of these seconds and then ends."""
    now, loop, found = 0.0, CrashLoop(), []
    for seconds in runs:
        now += seconds
        finished = now
        remaining = loop.remaining(finished, now)
        found.append(remaining)
        now += remaining
        loop.restarted(finished, now)
    return found


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([0] * 8, [0, 10, 20, 40, 80, 160, 300, 300]),
        ([5, 5, 5], [0, 10, 20]),
        ([1, 1, 1, 601, 1], [0, 10, 20, 0, 10]),
        ([1, 1, 1, 599, 1], [0, 10, 20, 40, 80]),
    ],
    ids=["doubles to 300", "counts from the end", "a long run resets", "600 s do not"],
)
def test_waits(runs, expected):
    assert waits(runs) == expected


def test_time_already_passed_counts():
    loop = CrashLoop()
    loop.restarted(100.0, 100.0)
    assert loop.remaining(101.0, 104.0) == 7.0
    assert loop.remaining(101.0, 200.0) == 0.0
