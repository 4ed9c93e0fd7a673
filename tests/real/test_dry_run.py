"""--dry-run=server and --diff where a cluster has rules: quotas, limits, Pod Security, policies, rights, queues."""

import json

import pytest
from worlds import World, until

from testbed.control_plane import ControlPlane
from testbed.upstreams import versions
from xlaunch.cluster.dry_run import DryRun
from xlaunch.core.checks import check
from xlaunch.core.clock import SystemClock
from xlaunch.core.plan import finished

pytestmark = pytest.mark.real

JOBSET = ("JobSet", "asked")
JOBS = [("Job", "asked-pathways-head-0"), ("Job", "asked-worker-0")]
PODS = [("Pod", "asked-pathways-head-0-0"), ("Pod", "asked-worker-0-3")]
LINE = (
    *("workload", "create-pathways", "--workload=asked", "--tpu-type=v5litepod-16", "--docker-image=img"),
    "--pathways-gcs-location=gs://my-bucket/tmp",
)
KUEUE = "kueue.x-k8s.io/v1beta2"
NETWORK = "host namespaces (hostNetwork=true)"


def asked(world, *flags):
    """The answer to a server dry run: its exit code, its object, and what it says on stderr."""
    process = world.start(*LINE, "--dry-run=server", "-o", "json", *flags, "--", "true")
    out, said = process.communicate(timeout=60)
    return process.returncode, json.loads(out), said.decode()


def refused(world, *flags):
    """What the server says against each object; {} where it takes all."""
    return {(each["kind"], each["name"]): each["message"] for each in asked(world, *flags)[1].get("refusals", ())}


def apply(world, version, kind, name, **fields):
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}
    world.kubectl("apply", "-f", "-", stdin=json.dumps(body))


@pytest.fixture(autouse=True)
def _nothing_is_created(request, world):
    """Whatever a dry run is told, nothing comes of it."""
    yield
    if "diff" not in request.node.name:
        assert world.get("jobsets,jobs,pods,services,events") == []


def test_a_quota_refuses_each_kind_by_itself(world):
    kinds = {"pods": "0", "count/jobs.batch": "0", "count/jobsets.jobset.x-k8s.io": "0"}
    apply(world, "v1", "ResourceQuota", "none", spec={"hard": kinds})
    until(lambda: "hard" in world.get("resourcequota", "none").get("status", {}), "the quota's count")
    found = refused(world)
    assert sorted(found) == sorted([JOBSET, *JOBS, *PODS])
    assert all("exceeded quota: none, requested: " in message for message in found.values())


def test_a_limit_range_refuses_the_pods_that_ask_for_more(world):
    """Workers ask for no memory, and so get the most that there is."""
    limit = {"type": "Container", "max": {"memory": "1Gi"}}
    apply(world, "v1", "LimitRange", "small", spec={"limits": [limit]})
    found = until(lambda: refused(world), "the limit to count")
    assert list(found) == PODS[:1]
    assert "maximum memory usage per Container is 1Gi, but limit is 100G" in found[PODS[0]]


def test_pod_security_refuses_pods_and_warns_of_jobs(world, namespace):
    world.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=baseline")
    found = until(lambda: refused(world), "the label to count")
    assert list(found) == PODS
    assert all(f'violates PodSecurity "baseline:latest": {NETWORK}' in message for message in found.values())
    _, _, said = asked(world)
    [warning] = [line for line in said.splitlines() if line.startswith("Warning from the API server: would violate")]
    assert NETWORK in warning
    assert warning.endswith(f"({', '.join(' '.join(job) for job in JOBS)})")
    code, body, _ = asked(world, "--no-host-network")
    assert (code, body["kind"]) == (0, "JobSet")


def test_pod_security_that_only_warns_refuses_nothing(world, namespace):
    world.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/warn=restricted")
    said = until(lambda: "would violate PodSecurity" in (told := asked(world))[2] and told, "the label to count")
    assert (said[0], said[1]["kind"]) == (0, "JobSet")
    assert "Accepted by the API server" in said[2]


@pytest.fixture
def policy(world, namespace):
    """Makes a ValidatingAdmissionPolicy for this namespace; gone after the test."""
    names = []

    def make(resource, group, expression, message, action):
        name = f"{namespace}-{resource}"
        names.append(name)
        rule = {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": [resource]}
        spec = {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression, "message": message}],
        }
        version = "admissionregistration.k8s.io/v1"
        apply(world, version, "ValidatingAdmissionPolicy", name, spec=spec)
        here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
        binding = {"policyName": name, "validationActions": [action], "matchResources": here}
        apply(world, version, "ValidatingAdmissionPolicyBinding", name, spec=binding)

    yield make
    for name in names:
        world.kubectl("delete", f"validatingadmissionpolicybinding/{name}", f"validatingadmissionpolicy/{name}")


def test_policies_deny_and_warn(world, policy):
    from_registry = "object.spec.containers.all(each, each.image.startsWith('registry.example.com/'))"
    policy("pods", "", from_registry, "images come from registry.example.com", "Deny")
    policy("jobs", "batch", "has(object.metadata.labels.team)", "a Job should have a team", "Warn")
    policy("jobsets", "jobset.x-k8s.io", "has(object.metadata.labels.team)", "whose JobSet is it?", "Deny")
    until(lambda: len(refused(world)) == 3 and "a Job should have a team" in asked(world)[2], "the policies to count")
    found = refused(world)
    assert list(found) == [JOBSET, *PODS]
    assert "denied request: whose JobSet is it?" in found[JOBSET]
    assert "denied request: images come from registry.example.com" in found[PODS[1]]
    code, _, said = asked(world, "--label=team=vision")
    # --label is for the JobSet and its pods, not for Jobs
    assert (code, "whose JobSet" in said, "a Job should have a team" in said) == (4, False, True)


@pytest.fixture
def launcher(control_plane, world, namespace, tmp_path):
    """Somebody who may create JobSets and nothing else."""
    rules = [{"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["create", "get", "list"]}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "launcher"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "launcher"}
    apply(world, "rbac.authorization.k8s.io/v1", "Role", "launcher", rules=rules)
    apply(world, "rbac.authorization.k8s.io/v1", "RoleBinding", "launcher", roleRef=role, subjects=[subject])
    kubeconfig = control_plane.kubeconfig_of("launcher", namespace=namespace)
    return World(tmp_path, (f"--kubeconfig={kubeconfig}",), kubeconfig)


def test_who_may_not_create_jobs_and_pods_is_told_what_was_left_out(launcher, namespace):
    _, body, said = until(lambda: (told := asked(launcher))[0] == 0 and told, "the rights to count")
    assert body["kind"] == "JobSet"
    left_out = [line for line in said.splitlines() if line.startswith("Not checked: ")]
    assert left_out == [
        f"Not checked: {kind} {name}: you may not create {kind.lower()}s in namespace {namespace}"
        for kind, name in (JOBS[0], PODS[0], JOBS[1], PODS[1])
    ]
    assert "Accepted by the API server, and nothing was created: JobSet asked.\n" in said


def test_who_may_not_create_jobsets_is_refused(control_plane, namespace, tmp_path):
    nobody = control_plane.kubeconfig_of("nobody", namespace=namespace)
    done = World(tmp_path, (f"--kubeconfig={nobody}",), nobody).xlaunch(*LINE, "--dry-run=server", "--", "true", code=4)
    assert 'User "nobody" cannot get resource "jobsets"' in done.stderr


def test_claims_of_the_jobset_are_volumes_of_its_pods(world, namespace):
    """JobSet adds them to the Jobs; without that the dry run of a Job would miss a volume."""
    done = world.xlaunch(*LINE, "--dry-run", "-o", "json", "--", "true", target=False)
    manifest = json.loads(done.stdout)
    manifest["metadata"]["namespace"] = namespace
    claim = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    manifest["spec"]["volumeClaimPolicies"] = [{"templates": [{"metadata": {"name": "data"}, "spec": claim}]}]
    main = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    main["volumeMounts"].append({"name": "data", "mountPath": "/data"})
    check(manifest)
    server = DryRun(world.api, finished(manifest), clock=SystemClock(), timeout=10.0, notice=print)
    assert server.report().refusals == []


@pytest.mark.parametrize(
    "control_plane", [ControlPlane(jobset=version) for version in versions("jobset")], indirect=True, ids=str
)
def test_diff_of_what_each_jobset_has_defaulted(world):
    """Also where the name is taken: all else is checked all the same."""
    world.xlaunch(*LINE, "--", "true")
    until(lambda: world.get("jobset", "asked").get("status"), "the controller")
    assert world.xlaunch(*LINE, "--diff", "--", "true").stdout == ""
    code, stored, said = asked(world, "--num-slices=2")
    assert (code, stored["metadata"]["name"], "of another plan" in said) == (0, "asked", True)


def test_diff_of_what_an_older_webhook_has_defaulted(world):
    """As after an upgrade of JobSet: the living one lacks what every new one gets."""
    body = json.loads(world.xlaunch(*LINE, "--dry-run", "-o", "json", "--", "true", target=False).stdout)
    [webhook] = [each for each in world.get("mutatingwebhookconfigurations") if "jobset" in each["metadata"]["name"]]
    name = webhook["metadata"]["name"]

    def defaulted():
        told = world.kubectl("create", "-f", "-", "--dry-run=server", "-o", "json", stdin=json.dumps(body))
        return "publishNotReadyAddresses" in json.loads(told)["spec"]["network"]

    del body["metadata"]["namespace"], body["spec"]["network"]["publishNotReadyAddresses"]
    try:
        world.kubectl("delete", "mutatingwebhookconfiguration", name)
        until(lambda: not defaulted(), "the webhook to be gone")
        world.kubectl("create", "-f", "-", stdin=json.dumps(body))
    finally:
        kept = {**webhook, "metadata": {"name": name}}
        world.kubectl("apply", "-f", "-", stdin=json.dumps(kept))
    body["metadata"]["name"] = "other"
    until(defaulted, "the webhook to be back")
    assert "publishNotReadyAddresses" not in world.get("jobset", "asked")["spec"]["network"]
    assert world.xlaunch(*LINE, "--diff", "--", "true").stdout == ""


@pytest.mark.parametrize("control_plane", [ControlPlane(kueue=True)], indirect=True, ids=str)
def test_diff_of_what_kueue_has_admitted(world, namespace):
    """Kueue lets it go on, and writes the flavor's nodes, its tolerations and labels of its own into the pods."""
    toleration = {"key": "pool", "operator": "Equal", "value": "tpu", "effect": "NoSchedule"}
    flavor = {"nodeLabels": {"pool": namespace}, "tolerations": [toleration]}
    apply(world, KUEUE, "ResourceFlavor", namespace, spec=flavor)
    covered = ["google.com/tpu", "cpu", "memory"]
    quotas = [{"name": namespace, "resources": [{"name": each, "nominalQuota": "1000Gi"} for each in covered]}]
    groups = [{"coveredResources": covered, "flavors": quotas}]
    apply(world, KUEUE, "ClusterQueue", namespace, spec={"namespaceSelector": {}, "resourceGroups": groups})
    apply(world, KUEUE, "LocalQueue", "team", spec={"clusterQueue": namespace})

    line = (*LINE, "--queue=team")
    code, stored, said = asked(world, "--queue=team")
    assert (code, stored["spec"]["suspend"]) == (0, True), said
    world.xlaunch(*line, "--", "true")
    assert world.xlaunch(*line, "--diff", "--", "true").stdout == ""
    until(lambda: world.get("jobset", "asked")["spec"]["suspend"] is False, "the quota")
    live = world.get("jobset", "asked")
    worker = live["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]
    assert worker["spec"]["nodeSelector"]["pool"] == namespace
    assert toleration in worker["spec"]["tolerations"]
    assert world.xlaunch(*line, "--diff", "--", "true").stdout == ""
    told = world.xlaunch(*line, "--worker-toleration-seconds=31", "--diff", "--", "true", code=5).stdout
    changed = [
        row[0] + row[1:].strip() for row in told.splitlines() if row[:1] in "+-" and row[:3] not in ("---", "+++")
    ]
    assert sorted(changed) == sorted(["-tolerationSeconds: 30", "+tolerationSeconds: 31"] * 2)
