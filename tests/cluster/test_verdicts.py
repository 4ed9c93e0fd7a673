"""What is said of objects that a server refuses: of many that are alike as of one."""

import pytest
from fakes.cluster import reference_jobset

from xlaunch.cluster.verdicts import PlanRefusedError, Refusal, summary
from xlaunch.core.plan import finished

PLAN = finished(reference_jobset())


def refusal(name, message="no", kind="Job", reason="Invalid"):
    return Refusal(kind, name, reason, message.replace("NAME", name))


def test_the_error_of_one_refusal_says_which_object_and_why():
    error = PlanRefusedError(PLAN, [Refusal("Pod", "run-worker-0-3", "Forbidden", "exceeded quota")])
    assert (error.code, error.message, error.why) == (4, "The API server refuses Pod run-worker-0-3", "exceeded quota")
    assert error.more == {
        "refusals": [
            {"kind": "Pod", "name": "run-worker-0-3", "reason": "Forbidden", "message": "exceeded quota"},
        ]
    }


def test_the_error_of_several_names_all():
    refusals = [Refusal("Job", "a-0", "Invalid", "no"), Refusal("Pod", "a-0-0", "Forbidden", "no")]
    error = PlanRefusedError(PLAN, refusals)
    assert (error.message, error.why) == ("The API server refuses 2 objects of demo-elastic", "Job a-0, Pod a-0-0")
    assert (error.reason, error.next) == ("Invalid", "Correct what they name; --dry-run shows the manifest")


def test_those_that_are_refused_alike_are_one():
    refusals = [refusal(f"a-worker-{n}", 'jobs.batch "NAME" is forbidden: exceeded quota') for n in range(512)]
    error = PlanRefusedError(PLAN, refusals)
    assert error.message == "The API server refuses Jobs a-worker-0 to a-worker-511"
    assert error.why == 'jobs.batch "a-worker-0" is forbidden: exceeded quota'
    assert [each["name"] for each in error.more["refusals"]] == [f"a-worker-{n}" for n in range(512)]


def test_several_kinds_are_counted_one_by_one():
    """Also where all are refused in the same words."""
    refusals = [refusal("a-head-0"), *(refusal(f"a-worker-{n}") for n in range(3)), refusal("a-worker-2-3", kind="Pod")]
    error = PlanRefusedError(PLAN, refusals)
    assert error.message == "The API server refuses 5 objects of demo-elastic"
    assert error.why == "Job a-head-0, Jobs a-worker-0 to a-worker-2, Pod a-worker-2-3"


@pytest.mark.parametrize(
    ("other", "labels"),
    [
        (refusal("a-worker-1", "else"), ["Job a-worker-0", "Job a-worker-1"]),
        (refusal("a-worker-1", reason="Forbidden"), ["Job a-worker-0", "Job a-worker-1"]),
        (refusal("a-worker-2"), ["Job a-worker-0, Job a-worker-2"]),
        (refusal("a-worker-1"), ["Jobs a-worker-0 to a-worker-1"]),
    ],
)
def test_what_is_said_of_others_is_not_taken_for_the_same(other, labels):
    assert list(summary([refusal("a-worker-0"), other])) == labels


@pytest.mark.parametrize(
    ("known", "step"),
    [
        (("", ""), "Correct what they name; --dry-run shows the manifest"),
        (("Do this", ""), "Do this. Correct what the others name; --dry-run shows the manifest"),
        (("Do this", "Do this"), "Do this"),
    ],
)
def test_the_next_step_is_for_all_that_is_refused(known, step):
    refusals = [
        Refusal("Job", name, "Invalid", f"{name} is wrong", next) for name, next in zip("ab", known, strict=True)
    ]
    assert PlanRefusedError(PLAN, refusals).next == step
