"""Which node a pod goes to, and kube-scheduler's words for none."""

import pytest
from fakes.cluster import node

from xlaunch.local.controllers.scheduler.fit import choose
from xlaunch.local.controllers.scheduler.nodes import Nodes

TOLERATES_TPU = [{"key": "google.com/tpu", "operator": "Exists"}]


def pod(name="p", *, on=None, labels=None, requests=None, ports=(), phase="Running", namespace="default", **spec):
    main = {
        "name": "main",
        "resources": {"requests": requests or {}},
        "ports": [{"containerPort": port, "hostPort": port} for port in ports],
    }
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "spec": {"containers": [main], **({"nodeName": on} if on else {}), **spec},
        "status": {"phase": phase},
    }


def terms(kind, *wanted):
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(wanted)}}}


def near(topology="cloud.google.com/gke-nodepool", **labels):
    return {"labelSelector": {"matchLabels": labels}, "topologyKey": topology, "namespaceSelector": {}}


def choice(waiting, nodes, running=()):
    chosen = choose(waiting, Nodes(nodes, running))
    return chosen if isinstance(chosen, str) else chosen.name


CPU = [node("cpu-0", "cpu-np"), node("cpu-1", "cpu-np")]
TPU = [node(f"tpu-{pool}-{host}", f"tpu-{pool}", tpu=4) for pool in range(2) for host in range(2)]


def test_the_emptiest_node_and_then_the_first_by_name():
    assert choice(pod(), CPU) == "cpu-0"
    assert choice(pod(), CPU, [pod("a", on="cpu-0")]) == "cpu-1"
    assert choice(pod(), [node("n-10", "x"), node("n-9", "x")]) == "n-9"


def preempt(solvable=0, hopeless=0):
    texts = []
    if solvable:
        texts.append(f"{solvable} No preemption victims found for incoming pod")
    if hopeless:
        texts.append(f"{hopeless} Preemption is not helpful for scheduling")
    return ", ".join(sorted(texts))


@pytest.mark.parametrize(
    ("waiting", "nodes", "running", "why", "preemption"),
    [
        (
            pod(nodeSelector={"no": "such"}),
            CPU,
            [],
            "2 node(s) didn't match Pod's node affinity/selector",
            preempt(hopeless=2),
        ),
        (pod(), TPU, [], "4 node(s) had untolerated taint(s)", preempt(hopeless=4)),
        (
            pod(requests={"google.com/tpu": "4"}, tolerations=TOLERATES_TPU),
            [CPU[0], TPU[0]],
            [pod("a", on="tpu-0-0", requests={"google.com/tpu": "4"})],
            "2 Insufficient google.com/tpu",
            preempt(solvable=2),
        ),
        (
            pod(requests={"cpu": "65", "memory": "513G"}),
            CPU[:1],
            [],
            "1 Insufficient cpu, 1 Insufficient memory",
            preempt(solvable=1),
        ),
        (
            pod(ports=[8080]),
            [CPU[0], TPU[0]],
            [pod("a", on="cpu-0", ports=[8080])],
            "1 node(s) didn't have free ports for the requested pod ports, 1 node(s) had untolerated taint(s)",
            preempt(solvable=1, hopeless=1),
        ),
        (pod(**terms("podAffinity", near(app="x"))), CPU, [], "2 node(s) didn't match pod affinity rules",
         preempt(hopeless=2)),
        (
            pod(**terms("podAntiAffinity", near(app="x"))),
            CPU,
            [pod("a", on="cpu-0", labels={"app": "x"})],
            "2 node(s) didn't match pod anti-affinity rules",
            preempt(solvable=2),
        ),
        (
            pod(labels={"app": "x"}),
            CPU,
            [pod("a", on="cpu-0", **terms("podAntiAffinity", near(app="x")))],
            "2 node(s) didn't satisfy existing pods anti-affinity rules",
            preempt(solvable=2),
        ),
    ],
)  # fmt: skip
def test_why_a_pod_waits(waiting, nodes, running, why, preemption):
    head = f"0/{len(nodes)} nodes are available"
    assert choice(waiting, nodes, running) == f"{head}: {why}. preemption: {head}: {preemption}."


def test_no_nodes_at_all():
    assert choice(pod(), []) == "no nodes available to schedule pods"


def test_a_cordoned_node_takes_only_who_tolerates_that():
    cordoned = node("cpu-0", "cpu-np")
    cordoned["spec"]["unschedulable"] = True
    assert choice(pod(), [cordoned]).startswith("0/1 nodes are available: 1 node(s) were unschedulable.")
    tolerant = pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])
    assert choice(tolerant, [cordoned]) == "cpu-0"


def test_a_full_node():
    small = node("cpu-0", "cpu-np")
    small["status"]["allocatable"]["pods"] = "1"
    assert "1 Too many pods" in choice(pod(), [small], [pod("a", on="cpu-0")])


@pytest.mark.parametrize(
    ("phase", "free"), [("Running", False), ("Pending", False), ("Succeeded", True), ("Failed", True)]
)
def test_only_pods_that_have_ended_free_their_place(phase, free):
    running = [pod("a", on="cpu-0", ports=[80], phase=phase)]
    assert (choice(pod(ports=[80]), CPU[:1], running) == "cpu-0") == free


def test_a_pod_being_deleted_keeps_its_place():
    leaving = pod("a", on="cpu-0", ports=[80])
    leaving["metadata"]["deletionTimestamp"] = "now"
    assert "free ports" in choice(pod(ports=[80]), CPU[:1], [leaving])


def test_the_first_of_its_kind_may_go_anywhere_with_the_topology():
    first = pod(labels={"app": "x"}, tolerations=TOLERATES_TPU, **terms("podAffinity", near(app="x")))
    assert choice(first, TPU) == "tpu-0-0"
    bare = node("bare", "x")
    del bare["metadata"]["labels"]["cloud.google.com/gke-nodepool"]
    assert "didn't match pod affinity rules" in choice(first, [bare])


def test_the_next_of_its_kind_goes_to_the_same_domain():
    second = pod(labels={"app": "x"}, tolerations=TOLERATES_TPU, **terms("podAffinity", near(app="x")))
    running = [pod("a", on="tpu-1-0", labels={"app": "x"})]
    assert choice(second, TPU, running) == "tpu-1-1"


def test_a_term_without_a_namespace_selector_means_its_own_namespace():
    term = near(app="x")
    del term["namespaceSelector"]
    other = [pod("a", on="cpu-0", labels={"app": "x"}, namespace="other")]
    assert choice(pod(**terms("podAntiAffinity", term)), CPU, other) == "cpu-1"
    term["namespaces"] = ["other"]
    assert "anti-affinity" in choice(pod(**terms("podAntiAffinity", term)), CPU, other)
