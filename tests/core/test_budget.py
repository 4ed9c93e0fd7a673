import pytest

from xlaunch.core.budget import (
    MAX_INT32,
    backoff_limit,
    replacement_delay,
    slice_scope_restarts,
)


@pytest.mark.parametrize(
    ("slice_restarts", "hosts", "limit"),
    [
        (10, 4, 40),
        (1, 4, 4),
        (0, 4, 0),
        (10, 1, 10),
        (1_000_000, 2240, MAX_INT32),
        (2**40, 1, MAX_INT32),
    ],
)
def test_backoff_limit_counts_pods_within_int32(slice_restarts, hosts, limit):
    assert backoff_limit(slice_restarts, hosts) == limit


@pytest.mark.parametrize(
    ("lost", "seconds"),
    [(0, 0), (-1, 0), (1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (6, 320), (7, 600), (8, 600), (10**9, 600)],
)
def test_replacement_delay_doubles_up_to_ten_minutes(lost, seconds):
    assert replacement_delay(lost) == seconds


@pytest.mark.parametrize(
    ("whole", "per_slice", "slices", "budget"), [(3, 10, 3, 33), (0, 1, 1, 1), (0, 0, 5, 0), (1, 2**31, 4, MAX_INT32)]
)
def test_one_budget_under_slice_scope(whole, per_slice, slices, budget):
    assert slice_scope_restarts(whole, per_slice, slices) == budget
