"""The sequences: the same for a seed, of every kind, and short enough to wait for."""

from collections import Counter
from pathlib import Path

import pytest

from differential import steps
from differential.run import Actor
from differential.shapes import RESTART_JOB_POLICIES, ROLE, SLOT, placed
from differential.steps import Step, node_sequences, restart_sequence, seeds, sequence

SEEDS = range(300)
DOCUMENT = (Path(__file__).parents[2] / "docs" / "differential-test.md").read_text(encoding="utf-8")


def test_a_seed_means_one_sequence():
    assert [sequence(seed) for seed in range(20)] == [sequence(seed) for seed in range(20)]
    assert len({str(sequence(seed).steps) for seed in SEEDS}) > 0.9 * len(SEEDS)


def test_every_action_occurs_and_can_be_done():
    actions = Counter(step.action for seed in SEEDS for step in sequence(seed).steps)
    assert all(hasattr(Actor, action) for action in actions if action != "create")
    assert min(actions.values()) >= 20
    assert len(actions) >= 12


def test_every_shape_occurs():
    specs = [sequence(seed).jobset["spec"] for seed in SEEDS]
    jobs = [each["template"] for spec in specs for each in spec["replicatedJobs"]]
    assert {tuple(sorted(spec)) for spec in specs if "coordinator" in spec}
    assert {spec.get("startupPolicy", {}).get("startupPolicyOrder") for spec in specs} == {None, "InOrder"}
    assert {job["spec"]["template"]["spec"]["restartPolicy"] for job in jobs} == {"Never", "OnFailure"}
    assert any("exclusive-topology" in str(job.get("metadata")) for job in jobs)
    for field in ("podFailurePolicy", "podReplacementPolicy"):
        assert any(field in job["spec"] for job in jobs)
    for field in ("failurePolicy", "successPolicy", "suspend", "ttlSecondsAfterFinished", "network"):
        assert any(field in spec for spec in specs)


def test_single_jobs_are_restarted_by_every_rule_and_lost_in_every_way():
    made = [restart_sequence(seed) for seed in SEEDS]
    assert made[:20] == [restart_sequence(seed) for seed in range(20)]
    policies = [each.jobset["spec"]["failurePolicy"] for each in made]
    assert all(policy in policies for policy in RESTART_JOB_POLICIES)
    actions = Counter(step.action for each in made for step in each.steps)
    assert (
        min(actions[each] for each in ("delete_pod", "delete_slice", "evict", "signal", "suspend", "delete_job")) > 50
    )


def test_seeds_are_told_in_numbers_and_ranges():
    assert list(seeds("7,20-22")) == [7, 20, 21, 22]


@pytest.mark.parametrize("make", [sequence, restart_sequence])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_sequence_begins_with_a_jobset_and_ends_without_one(seed, make):
    actions = [step.action for step in make(seed).steps]
    assert actions[:2] == ["create", "settle"]
    assert actions[-2:] == ["delete_jobset", "settle"]
    assert actions.count("settle") <= 12


def test_all_pods_of_a_sequence_belong_to_its_slot():
    placed_spec = placed(sequence(3).jobset, 4)["spec"]
    pods = [each["template"]["spec"]["template"]["spec"] for each in placed_spec["replicatedJobs"]]
    assert [pod["nodeSelector"] for pod in pods] == [{SLOT: "4", ROLE: "head"}, {SLOT: "4", ROLE: "worker"}]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (Step("settle"), "settle"),
        (Step("delete_pod", "set-head-0", 1, 0), "delete_pod set-head-0[1] 0"),
        (Step("delete_pod", "set-head-0"), "delete_pod set-head-0[0]"),
        (Step("suspend", value=False), "suspend False"),
    ],
)
def test_a_step_says_what_it_does(step, told):
    assert str(step) == told


def test_what_becomes_of_a_lost_host_is_told_in_steps_that_can_be_done():
    names = [each.name for each in node_sequences()]
    assert names == ["node-back", "node-away"]
    actions = {step.action for each in node_sequences() for step in each.steps} - {"create"}
    assert all(hasattr(Actor, action) for action in actions)


def test_the_page_says_how_many_sequences_there_are():
    ci, later, gated, gated_later = (
        len(list(seeds(each)))
        for each in (steps.CI_SEEDS, steps.NIGHTLY_SEEDS, steps.CI_RESTART_SEEDS, steps.NIGHTLY_RESTART_SEEDS)
    )
    lost = len(node_sequences())
    assert f"| `make test-real` | {ci} | {gated} | 0 |" in DOCUMENT
    assert f"| `make nightly` | {later} | {gated_later} | {lost} |" in DOCUMENT
