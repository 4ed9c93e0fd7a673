"""What counts as compared: neither what came too late, nor a fault that nobody was there for."""

import pytest

from differential.counting import LATE, Entry, meets, outcome, totals

GONE = {"code": 404, "warnings": []}
DONE = {"code": 200, "warnings": []}


def record(*entries):
    """Entries of steps, each an action and what came of it."""
    return [Entry(f"{number} {action}", action, value) for number, (action, value) in enumerate(entries)]


CREATED = ("create", {"code": 201})
LOST = ("delete_pod", DONE)
MISSED = ("delete_pod", "")
SEEN = ("settle", {"pods": ["a"]})
END = ("delete_jobset", DONE)


@pytest.mark.parametrize(
    ("action", "value", "found"),
    [
        ("delete_pod", DONE, True),
        ("delete_pod", GONE, False),
        ("delete_pod", "", False),
        ("evict", {"code": 201}, True),
        ("signal", "sent", True),
        ("signal", None, False),
        ("delete_slice", {"code": 200, "pods": 2}, True),
        ("delete_slice", {"code": 200, "pods": 0}, False),
        ("delete_service", [200], True),
        ("delete_service", [], False),
        ("suspend", DONE, True),
        ("suspend", GONE, False),
        ("lose_node", "lost", True),
        # A change that is refused changes nothing on purpose; that of what is gone was meant to
        ("patch_jobset", {"code": 422, "reason": "Invalid"}, None),
        ("patch_job", GONE, False),
        ("create", {"code": 201}, None),
        ("cordon", None, None),
        ("settle", {"pods": []}, None),
        ("glance", LATE, None),
        ("delete_jobset", DONE, None),
        ("events", [], None),
    ],
)
def test_a_fault_meets_something_or_not(action, value, found):
    assert meets(Entry("1", action, value)) is found


def test_states_and_faults_are_counted():
    one = record(CREATED, SEEN, LOST, SEEN, MISSED, ("glance", {"pods": []}), ("signal", "sent"), SEEN, END, SEEN)
    found = outcome(one, one)
    assert found.counts() == {"states": 5, "faults": 3, "met": 2, "late": 0, "restarts": 0}
    assert (found.met, found.afterwards) == ((2, 2), 2)
    assert (found.difference, found.idle()) == ("", "")


def test_a_look_that_came_late_on_either_side_is_no_comparison():
    one = record(CREATED, SEEN, LOST, ("glance", LATE), SEEN)
    other = record(CREATED, SEEN, LOST, ("glance", {"pods": ["a"]}), SEEN)
    for pair in ((one, other), (other, one), (one, one)):
        assert outcome(*pair).counts() == {"states": 2, "faults": 1, "met": 1, "late": 1, "restarts": 0}
        assert not outcome(*pair).difference


def test_a_sequence_without_a_state_after_its_last_fault_has_shown_nothing():
    found = outcome(*[record(CREATED, SEEN, LOST, SEEN, LOST, ("glance", LATE))] * 2)
    assert found.idle() == "no state was compared after the last fault that met something"
    assert outcome(*[record(CREATED, SEEN, SEEN)] * 2).idle()
    assert not outcome(*[record(CREATED, SEEN, LOST, LOST, SEEN, MISSED)] * 2).idle()


def test_a_sequence_most_of_whose_faults_meet_nothing_has_shown_little():
    most = record(CREATED, LOST, MISSED, ("delete_slice", {"code": 200, "pods": 2}), SEEN)
    assert outcome(most, most).idle() == ""
    half = record(CREATED, LOST, ("delete_slice", {"code": 200, "pods": 0}), SEEN)
    assert outcome(half, half).idle() == "of 2 faults only 1 met something on embedded, 1 on real"


def test_a_fault_that_meets_something_on_one_side_only_is_a_difference():
    found = outcome(record(CREATED, LOST, SEEN), record(CREATED, MISSED, SEEN))
    assert found.difference.startswith("step 1 delete_pod\n--- embedded\n+++ real")


def test_the_first_difference_is_told():
    one, other = (record(CREATED, SEEN, LOST, ("settle", {"pods": [each]}), SEEN) for each in "xy")
    told = outcome(one, other).difference
    assert told.startswith("step 3 settle\n--- embedded\n+++ real")
    assert '-  "x"' in told


def test_what_one_side_did_not_do_at_all_is_no_comparison():
    with pytest.raises(ValueError, match="shorter"):
        outcome(record(CREATED, SEEN), record(CREATED))


def test_the_restarts_of_single_jobs_are_those_of_the_last_state_that_tells():
    def seen(*counts):
        return ("settle", {"jobsets": [{"status": {"replicatedJobsStatus": [{"jobRestarts": list(counts)}, {}]}}]})

    one = record(CREATED, SEEN, LOST, seen(1, 0), LOST, seen(1, 2), END, ("settle", {"jobsets": []}))
    assert outcome(one, one).restarts == 3


def test_the_totals_of_a_run_are_one_line():
    found = [
        {"states": 5, "faults": 3, "met": 2, "late": 1, "restarts": 2},
        {"states": 7, "faults": 4, "met": 4, "late": 0, "restarts": 0},
    ]
    assert totals(found) == (
        "Differential: 2 sequences, 12 states compared after 6 faults that met something (1 met nothing)"
        " and 2 restarts of single Jobs, 1 glances too late"
    )


@pytest.mark.slow
def test_a_run_says_its_totals_also_where_several_processes_test(pytester):
    pytester.makeconftest('pytest_plugins = ["differential.summary"]')
    pytester.makepyfile("""
        def test_one(record_property):
            record_property("differential", {"states": 2, "faults": 1, "met": 1, "late": 0, "restarts": 1})

        def test_other(record_property):
            record_property("differential", {"states": 3, "faults": 1, "met": 0, "late": 2, "restarts": 0})
            assert False
    """)
    said = "Differential: 2 sequences, 5 states compared after 1 faults*, 2 glances too late"
    pytester.runpytest_inprocess("-p", "xdist", "-n", "2").stdout.fnmatch_lines([said])
