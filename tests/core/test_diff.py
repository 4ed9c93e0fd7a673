"""The diff of a live JobSet to the one that a plan would make."""

import copy

import pytest

from xlaunch.core.diff import comparable, is_placed, unified, unplaced


def jobset(**spec):
    """As a server answers, with what it adds."""
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {
            "name": "run",
            "namespace": "ns",
            "uid": "1",
            "resourceVersion": "7",
            "generation": 2,
            "creationTimestamp": "2026-11-29T12:00:00Z",
            "managedFields": [{}],
            "labels": {"kueue.x-k8s.io/queue-name": "q", "xlaunch.dev/owner": "alice"},
            "annotations": {
                "xlaunch.dev/plan-hash": "0123",
                "xlaunch.dev/version": "0.1",
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "team": "vision",
            },
        },
        "spec": {"suspend": False, "replicatedJobs": [replicated("worker")], **spec},
        "status": {"restarts": 1},
    }


def replicated(name, **pod):
    main = {"name": "main", "image": "img", "env": [{"name": "A", "value": "1"}, {"name": "HF_TOKEN", "value": "abc"}]}
    spec = {"containers": [main], **pod}
    return {"name": name, "replicas": 1, "template": {"spec": {"template": {"spec": spec}}}}


def main_of(made):
    return made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]


def diff(live, planned, suspend=False):
    before = comparable(live, suspend=suspend) if live else None
    return unified(before, comparable(planned, suspend=suspend), "ns/run")


def changes(text):
    return [line for line in text.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def test_equal_ones_have_no_diff():
    assert diff(jobset(), jobset()) == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda made: made["metadata"].update(uid="2", generation=9, resourceVersion="8"),
        lambda made: made["metadata"].pop("managedFields"),
        lambda made: made["metadata"]["labels"].update({"xlaunch.dev/owner": "bob"}),
        lambda made: made["metadata"]["annotations"].update({"xlaunch.dev/plan-hash": "9"}),
        lambda made: made["metadata"]["annotations"].pop("xlaunch.dev/version"),
        lambda made: made["metadata"]["annotations"].pop("kubectl.kubernetes.io/last-applied-configuration"),
        lambda made: made["metadata"].update(finalizers=["foregroundDeletion"], deletionTimestamp="x"),
        lambda made: made.pop("status"),
        lambda made: made["spec"].pop("suspend"),
        lambda made: made["spec"].update(suspend=True),
        lambda made: made["spec"].update(coordinator=None),
    ],
)
def test_what_no_plan_decides_makes_no_diff(change):
    live, planned = jobset(), jobset()
    change(live)
    assert (diff(live, planned), diff(planned, live)) == ("", "")


def test_the_order_of_keys_makes_no_diff():
    live = jobset()
    live["spec"] = dict(reversed(live["spec"].items()))
    assert diff(live, jobset()) == ""


def test_suspend_counts_where_the_plan_decides_it():
    assert changes(diff(jobset(suspend=False), jobset(suspend=True), suspend=True)) == [
        "-  suspend: false",
        "+  suspend: true",
    ]


def test_a_change_is_shown_with_its_surroundings_and_names():
    planned = jobset()
    main_of(planned)["image"] = "img:2"
    text = diff(jobset(), planned)
    assert text.startswith("--- live/ns/run\n+++ plan/ns/run\n@@ ")
    assert changes(text) == ["-              image: img", "+              image: img:2"]
    assert "               name: main\n" in text


def test_labels_that_somebody_else_gave_are_shown():
    live = jobset()
    live["metadata"]["labels"]["added"] = "later"
    assert changes(diff(live, jobset())) == ["-    added: later"]


def test_what_is_not_there_is_all_additions():
    text = diff(None, jobset())
    assert text.startswith("--- /dev/null\n+++ plan/ns/run\n")
    assert all(line.startswith("+") for line in text.splitlines()[3:])
    assert "+  name: run" in text
    assert "abc" not in text


@pytest.mark.parametrize(
    ("live", "planned", "expected"),
    [
        ("abc", "abc", []),
        ("abc", "xyz", ["*** (before)", "*** (after)"]),
        ("abc", None, ["***"]),
        (None, "xyz", ["***"]),
    ],
)
def test_values_of_credentials_are_hidden_and_yet_differ(live, planned, expected):
    sides = []
    for value in (live, planned):
        made = jobset()
        entries = main_of(made)["env"]
        if value is None:
            del entries[1]
        else:
            entries[1]["value"] = value
        sides.append(made)
    before = copy.deepcopy(sides)
    text = diff(*sides)
    assert [line.partition("value: ")[2].strip("'\"") for line in changes(text) if "value" in line] == expected
    assert "abc" not in text
    assert "xyz" not in text
    assert sides == before


def test_credentials_of_the_same_name_in_other_containers_are_told_apart():
    live, planned = jobset(), jobset()
    for made in (live, planned):
        made["spec"]["replicatedJobs"].append(replicated("head"))
    main_of(planned)["env"][1]["value"] = "other"
    assert diff(live, planned).count("***") == 2


def placed():
    """As Kueue leaves a JobSet that it has admitted to a flavor."""
    made = jobset(replicatedJobs=[replicated("worker", nodeSelector={"a": "b"}, tolerations=[{"key": "mine"}])])
    template = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    template["metadata"] = {
        "labels": {"kueue.x-k8s.io/podset": "worker", "kueue.x-k8s.io/local-queue-name": "q"},
        "annotations": {"kueue.x-k8s.io/workload": "jobset-run"},
    }
    template["spec"]["nodeSelector"] = {"a": "b", "pool": "tpu"}
    template["spec"]["tolerations"] = [{"key": "mine"}, {"key": "flavor"}]
    return made


def workload(template):
    return {"spec": {"podSets": [{"name": "worker", "count": 4, "template": template}]}}


def test_what_kueue_wrote_into_an_admitted_one_is_taken_away():
    planned = jobset(replicatedJobs=[replicated("worker", nodeSelector={"a": "b"}, tolerations=[{"key": "mine"}])])
    assert is_placed(placed())
    assert not is_placed(planned)
    before = workload(planned["spec"]["replicatedJobs"][0]["template"]["spec"]["template"])
    assert diff(placed(), planned) != ""
    assert diff(unplaced(placed(), before), planned) == ""


def test_what_the_plan_no_longer_selects_is_still_shown():
    planned = jobset(replicatedJobs=[replicated("worker", tolerations=[{"key": "mine"}])])
    before = workload({"spec": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "mine"}]}})
    assert changes(diff(unplaced(placed(), before), planned)) == ["-            nodeSelector:", "-              a: b"]


def test_a_workload_of_other_pods_takes_nothing_away():
    other = {"spec": {"podSets": [{"name": "driver", "template": {}}]}}
    assert unplaced(placed(), other) == placed()
