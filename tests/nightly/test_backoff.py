"""The Job controller's back-off in real time beyond its first steps: what `status` forecasts is what happens."""

import pytest
from following import counting
from losing import delays, ends, followed, is_about, lose, row, waited, whole
from worlds import until

pytestmark = [
    pytest.mark.real,
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.xdist_group("back-off"),  # beside the other tests of its kind of control plane, not after them
]


@pytest.mark.verified("2.1", "2.2", "2.3")
def test_waits_double_up_to_ten_minutes(cluster):
    """Single hosts of one slice wait 10 to 160 s; meanwhile all hosts of another wait 80 s, and then 600 s."""
    counting(cluster, "doubles", slices=2)
    following = followed(cluster, "doubles")
    all_began, _ = lose(cluster, "doubles", 1, 0, 1, 2, 3)
    for lost, base in enumerate((10, 20, 40, 80, 160)):
        assert row(cluster, "doubles", 0)["nextReplacementSeconds"] == base
        began, _ = lose(cluster, "doubles", 0, lost % 4)
        seconds = waited(cluster, "doubles", 0, lost % 4, began)
        print(f"loss {lost + 1} of one host: {seconds:.1f} s")
        assert is_about(seconds, base, cluster, "doubles-worker-0")
        until(lambda: whole(cluster, "doubles", 0), "the slice to be whole")
    seconds = waited(cluster, "doubles", 1, 3, all_began)
    print(f"loss of four hosts: {seconds:.1f} s")
    assert is_about(seconds, 80, cluster, "doubles-worker-1")
    assert whole(cluster, "doubles", 1)["nextReplacementSeconds"] == 160
    lose(cluster, "doubles", 1, 0, 1, 2, 3)
    assert 590 < row(cluster, "doubles", 1)["nextReplacementSeconds"] <= 600
    until(lambda: 590 < max(delays(cluster, "doubles-worker-1")) <= 600, "the wait in the log")
    print(f"second loss of four hosts: {max(delays(cluster, 'doubles-worker-1'))} s in the log")
    assert row(cluster, "doubles", 1)["lost"] == 8
    ends(cluster, "doubles", following)
