import pytest

from xlaunch.demo.forecast import back_off, wait_for_slices


@pytest.mark.parametrize(("pods", "seconds"), [(0, 10), (1, 10), (2, 20), (4, 80), (7, 600), (8, 600)])
def test_the_back_off_doubles_with_each_lost_pod(pods, seconds):
    assert back_off(pods) == seconds


@pytest.mark.parametrize(
    ("pods", "noticed_after", "seconds"),
    [
        (1, 0.2, 20),  # 10 s, and a moment: the poll at 10 s comes too early
        (1, 1.5, 10),
        (1, 13.0, 0),  # as in the blog: noticed after it was over
        (4, 0.2, 90),
        (8, 0.2, 610),
    ],
)
def test_the_wait_is_a_whole_number_of_polls(pods, noticed_after, seconds):
    assert wait_for_slices(pods, noticed_after) == seconds
