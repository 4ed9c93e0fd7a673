"""What a patch or a template of one's own can do wrong: xlaunch refuses what it can see, JobSet and the API the rest.

Everybody says it in one sentence, the same on both control planes.
"""

import json
import re

import pytest
from refusing import FLAGS, Asking, changed, rendered

from xlaunch.core.checks import check
from xlaunch.core.errors import UsageError

pytestmark = pytest.mark.e2e

POD = "spec.replicatedJobs[0].template.spec.template.spec"
DEPENDS = "spec.replicatedJobs[1].dependsOn[0]"
AMOUNT = 'admission webhook "mjobset.kb.io" denied the request: quantities must match the regular expression'
UNGATED = (
    "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate "
    "is disabled"
)


def jobs(manifest):
    return manifest["spec"]["replicatedJobs"]


def head(manifest):
    return jobs(manifest)[0]["template"]["spec"]["template"]["spec"]


def rule(**fields):
    return lambda manifest: manifest["spec"]["failurePolicy"].update(rules=[fields])


def ports(manifest):
    main = head(manifest)["containers"][0]
    main["ports"] = [{"containerPort": 8000}, {"containerPort": 8000}]


def depends(manifest, index, on, status="Ready"):
    manifest["spec"]["startupPolicy"]["startupPolicyOrder"] = "AnyOrder"
    jobs(manifest)[index]["dependsOn"] = [{"name": on, "status": status}]


# Only the cluster can see these: what to change, and what it says
BY_THE_CLUSTER = {
    "a strategy behind a gate": (
        lambda manifest: manifest["spec"]["failurePolicy"].update(restartStrategy="InPlaceRestart"),
        "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled",
    ),
    "an action behind a gate": (
        rule(name="slices", action="RestartJob"),
        UNGATED,
    ),
    "the first one depends": (
        lambda manifest: depends(manifest, 0, "worker"),
        "DependsOn can't be set for the first ReplicatedJob (1 more)",
    ),
    "depends on nobody": (
        lambda manifest: depends(manifest, 1, "nobody"),
        "replicatedJob: worker cannot depend on replicatedJob: nobody",
    ),
    "depends on something unknown": (
        lambda manifest: depends(manifest, 1, "pathways-head", "Sometimes"),
        f'{DEPENDS}.status: Unsupported value: "Sometimes": supported values: "Ready", "Complete"',
    ),
    "a group's name": (
        lambda manifest: jobs(manifest)[1].update(groupName="1st"),
        'spec.replicatedJobs[1].groupName: Invalid value: "1st": a DNS-1035 label must consist of lower case',
    ),
    "a manager's name": (
        lambda manifest: manifest["spec"].update(managedBy="me"),
        'spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")',
    ),
    "a field that is none": (
        lambda manifest: head(manifest).update(affinity={"nodeAffinty": {}}),
        f'unknown field "{POD}.affinity.nodeAffinty"',
    ),
    "a port twice": (
        ports,
        f'{POD}.containers[0].ports[1]: Duplicate value: {{"containerPort":8000,"protocol":"TCP"}}',
    ),
    "a probe of nothing": (
        lambda manifest: head(manifest)["containers"][0].update(livenessProbe={"httpGet": {"path": "/"}}),
        f"{POD}.containers[0].livenessProbe.httpGet.port: Required value",
    ),
}
# xlaunch sees these first: what to change, what xlaunch says, and the cluster
BY_XLAUNCH = {
    "no such coordinator": (
        lambda manifest: manifest["spec"]["coordinator"].update(replicatedJob="nobody"),
        "spec.coordinator names the replicated job 'nobody', which there is not",
        "coordinator replicatedJob nobody does not exist",
    ),
    "a coordinator beyond the last": (
        lambda manifest: manifest["spec"]["coordinator"].update(podIndex=1),
        "spec.coordinator names the pod 0/1, which pathways-head does not have",
        "coordinator pod index 1 is invalid for replicatedJob pathways-head job index 0",
    ),
    "success of nobody": (
        lambda manifest: manifest["spec"]["successPolicy"].update(targetReplicatedJobs=["nobody"]),
        "a policy names the replicated job 'nobody', which there is not",
        "invalid replicatedJob name 'nobody' does not appear in .spec.ReplicatedJobs",
    ),
    "a rule for nobody": (
        rule(name="all", action="FailJobSet", targetReplicatedJobs=["nobody"]),
        "a policy names the replicated job 'nobody', which there is not",
        "invalid replicatedJob name 'nobody' in failure policy does not appear in .spec.ReplicatedJobs",
    ),
    "a rule's name": (
        rule(name="1", action="FailJobSet"),
        "spec.failurePolicy.rules[0].name is '1'",
        "invalid failure policy rule name '1', a failure policy rule name must start with an alphabetic",
    ),
    "an action that is none": (
        rule(name="all", action="Panic"),
        "spec.failurePolicy.rules[0].action is 'Panic'",
        'spec.failurePolicy.rules[0].action: Unsupported value: "Panic": supported values: ',
    ),
    "a name twice": (
        lambda manifest: jobs(manifest)[1].update(name="pathways-head"),
        "spec.replicatedJobs[1].name pathways-head is taken",
        'spec.replicatedJobs[1]: Duplicate value: {"name":"pathways-head"}',
    ),
    "a container twice": (
        lambda manifest: head(manifest)["containers"].append(head(manifest)["containers"][0]),
        f"{POD}.containers[1].name main is taken",
        f'{POD}.containers[1]: Duplicate value: {{"name":"main"}}',
    ),
    "a volume twice": (
        lambda manifest: head(manifest)["volumes"].append({"name": "scratch", "emptyDir": {}}),
        f"{POD}.volumes[1].name scratch is taken",
        f'{POD}.volumes[1]: Duplicate value: {{"name":"scratch"}}',
    ),
    "an amount of memory": (
        lambda manifest: head(manifest)["containers"][0]["resources"]["limits"].update(memory="100GB"),
        f"{POD}.containers[0].resources.limits has memory=100GB",
        AMOUNT,
    ),
    "an amount of disk": (
        lambda manifest: head(manifest)["volumes"][0].update(emptyDir={"sizeLimit": "big"}),
        f"{POD}.volumes[0].emptyDir.sizeLimit is 'big'",
        AMOUNT,
    ),
    "a field that we know to be none": (
        lambda manifest: manifest["spec"].update(replicas=3),
        "spec.replicas is not a field",
        'unknown field "spec.replicas"',
    ),
}


def differing(said, wanted):
    """What was said otherwise than it should have been, to be read side by side."""
    return {case: (said[case], words) for case, words in wanted.items() if not (words and said[case].startswith(words))}


def test_what_the_cluster_says_and_what_xlaunch_sees_before(cluster):
    asking, plain = Asking(cluster), rendered(cluster, "wrong", "--no-host-network")
    cases = {case: (change, words) for case, (change, *_, words) in (BY_THE_CLUSTER | BY_XLAUNCH).items()}
    said = {case: asking.of(changed(plain, change)) for case, (change, _) in cases.items()}
    assert differing(said, {case: words for case, (_, words) in cases.items()}) == {}
    assert max(map(len, said.values())) <= 310
    for change, words, _ in BY_XLAUNCH.values():
        with pytest.raises(UsageError, match=re.escape(words)):
            check(changed(plain, change))


def test_the_users_sentence(cluster, tmp_path):
    """Each refusal of JobSet's webhook and of the API server ends the command with 4, and one sentence."""
    plain, template = rendered(cluster, "wrong", "--no-host-network"), tmp_path / "template.yaml"
    line = ("workload", "create-pathways", "--workload=wrong", *FLAGS, f"--template={template}", "--", "true")
    for change, words in BY_THE_CLUSTER.values():
        if words == UNGATED:
            continue  # Asked whether it could, which has a sentence of its own: test_restart_job.py
        template.write_text(json.dumps(changed(plain, change), indent=1))  # YAML, and nothing of it looks like jinja
        error = cluster.json(*line, code=4)
        assert error["message"].startswith(f"The API server refuses wrong. {words}")
        assert error["message"].endswith(".")
        assert error["next"] == "Correct what it names; --dry-run shows the manifest"
    cluster.xlaunch("status", "wrong", code=3)
