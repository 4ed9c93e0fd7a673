"""Each flag of create-pathways: what it puts into the manifest, or why it is refused."""

import json

import pytest
import yaml
from support.pathways import COMMAND, IMAGE, LINE, container, create, env, job, pod, rendered

HEAD, WORKER, GKE = "pathways-head", "worker", "cloud.google.com"


def spec(manifest, role):
    return pod(manifest, role)["spec"]


def everywhere(manifest):
    return manifest, pod(manifest, HEAD), pod(manifest, WORKER)


def backoff(manifest):
    return job(manifest, WORKER)["template"]["spec"]["backoffLimit"]


# flags -> where to look -> what is there
EFFECTS = {
    "namespace": (["--namespace=team-a"], lambda m: m["metadata"]["namespace"], "team-a"),
    "no namespace": ([], lambda m: m["metadata"]["namespace"], "default"),
    "num-slices": (["--num-slices=3"], lambda m: job(m, WORKER)["replicas"], 3),
    "hosts": ([], lambda m: job(m, WORKER)["template"]["spec"]["completions"], 4),
    "v5e": (["--tpu-type=v5e-16"], lambda m: container(m, "pathways-rm")["args"][3], "--instance_type=tpuv5e:4x4"),
    "machine": (
        ["--tpu-type=v6e-8", "--machine-type=ct6e-standard-8t"],
        lambda m: container(m, "pathways-worker")["resources"]["limits"]["google.com/tpu"],
        "8",
    ),
    "max-restarts default": ([], lambda m: m["spec"]["failurePolicy"]["maxRestarts"], 0),
    "max-restarts elastic": (
        ["--num-slices=2", "--elastic-slices=1"],
        lambda m: m["spec"]["failurePolicy"]["maxRestarts"],
        3,
    ),
    "max-restarts given": (
        ["--num-slices=2", "--elastic-slices=1", "--max-restarts=0"],
        lambda m: m["spec"]["failurePolicy"]["maxRestarts"],
        0,
    ),
    "budget elastic": (["--num-slices=3", "--elastic-slices=3", "--max-slice-restarts=10"], backoff, 40),
    "budget elastic default": (["--num-slices=3", "--elastic-slices=3"], backoff, 4),
    "budget default": ([], backoff, 16),
    "budget given without elasticity": (["--max-slice-restarts=2"], backoff, 8),
    "budget clamped": (["--max-slice-restarts=2147483647"], backoff, 2147483647),
    "docker-name": (["--docker-name=jax-tpu"], lambda m: container(m, "jax-tpu")["image"], "img"),
    "default-container": (
        ["--docker-name=jax-tpu"],
        lambda m: pod(m, HEAD)["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"],
        "jax-tpu",
    ),
    "pull secret head": (
        ["--docker-image-pull-secret=s"],
        lambda m: spec(m, HEAD)["imagePullSecrets"],
        [{"name": "s"}],
    ),
    "pull secret worker": (
        ["--docker-image-pull-secret=s"],
        lambda m: spec(m, WORKER)["imagePullSecrets"],
        [{"name": "s"}],
    ),
    "no priority": ([], lambda m: "priorityClassName" in spec(m, WORKER), False),
    "priority head": (["--priority=high"], lambda m: spec(m, HEAD)["priorityClassName"], "high"),
    "priority worker": (["--priority=high"], lambda m: spec(m, WORKER)["priorityClassName"], "high"),
    "scheduler": (
        ["--scheduler=gke.io/topology-aware-auto"],
        lambda m: [spec(m, role)["schedulerName"] for role in (HEAD, WORKER)],
        ["gke.io/topology-aware-auto"] * 2,
    ),
    "service account": (
        ["--service-account=runner"],
        lambda m: [spec(m, role)["serviceAccountName"] for role in (HEAD, WORKER)],
        ["runner"] * 2,
    ),
    "queue default": ([], lambda m: m["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "multislice-queue"),
    "queue": (["--queue=q"], lambda m: m["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "q"),
    "queue none": (["--queue=none"], lambda m: m["metadata"]["labels"], {"xpk.google.com/workload": "demo"}),
    "tolerations": (
        ["--worker-toleration-seconds=60"],
        lambda m: [each.get("tolerationSeconds") for each in spec(m, WORKER)["tolerations"]],
        [None, 60, 60],
    ),
    "head tolerations": ([], lambda m: "tolerations" in spec(m, HEAD), False),
    "grace": (["-tgps", "45"], lambda m: spec(m, WORKER)["terminationGracePeriodSeconds"], 45),
    "head grace": (["-tgps=45"], lambda m: "terminationGracePeriodSeconds" in spec(m, HEAD), False),
    "ttl default": ([], lambda m: m["spec"]["ttlSecondsAfterFinished"], 604800),
    "ttl": (["--ttl-seconds-after-finished=0"], lambda m: m["spec"]["ttlSecondsAfterFinished"], 0),
    "proxy image": (["--proxy-server-image=p:1"], lambda m: container(m, "pathways-proxy")["image"], "p:1"),
    "server image": (
        ["--server-image=s:1"],
        lambda m: [container(m, name)["image"] for name in ("pathways-rm", "pathways-worker")],
        ["s:1", "s:1"],
    ),
    "worker image": (
        ["--server-image=s:1", "--worker-image=w:1"],
        lambda m: [container(m, name)["image"] for name in ("pathways-rm", "pathways-worker")],
        ["s:1", "w:1"],
    ),
    "sidecar": (
        ["--colocated-python-sidecar-image=c:1"],
        lambda m: [spec(m, WORKER)["initContainers"][0][key] for key in ("image", "restartPolicy")],
        ["c:1", "Always"],
    ),
    "memory": (
        ["--main-memory=1Ti", "--proxy-memory=200G", "--rm-memory=64G", "--main-cpu=8"],
        lambda m: [container(m, name)["resources"]["limits"] for name in ("main", "pathways-proxy", "pathways-rm")],
        [{"cpu": "8", "memory": "1Ti"}, {"cpu": "16", "memory": "200G"}, {"cpu": "8", "memory": "64G"}],
    ),
    "host network": ([], lambda m: [spec(m, role)["hostNetwork"] for role in (HEAD, WORKER)], [True, True]),
    "no host network": (
        ["--no-host-network"],
        lambda m: [("hostNetwork" in spec(m, role), "dnsPolicy" in spec(m, role)) for role in (HEAD, WORKER)],
        [(False, False)] * 2,
    ),
    "tmp": ([], lambda m: spec(m, HEAD)["volumes"], [{"name": "scratch", "emptyDir": {}}]),
    "tmp hostPath": (
        ["--scratch=hostPath"],
        lambda m: spec(m, WORKER)["volumes"][0]["hostPath"],
        {"path": "/tmp", "type": "DirectoryOrCreate"},
    ),
    "head default": ([], lambda m: spec(m, HEAD)["nodeSelector"], {"cloud.google.com/gke-nodepool": "cpu-np"}),
    "head nodepool": (
        ["--head-nodepool=big"],
        lambda m: spec(m, HEAD)["nodeSelector"],
        {"cloud.google.com/gke-nodepool": "big"},
    ),
    "head selector": (
        ["--head-node-selector=a=b", "--head-node-selector=c=d", "--head-nodepool=big"],
        lambda m: spec(m, HEAD)["nodeSelector"],
        {"a": "b", "c": "d"},
    ),
    "exclusive placement": (
        [],
        lambda m: list(job(m, WORKER)["template"]["metadata"]["annotations"].values()),
        ["cloud.google.com/gke-nodepool"],
    ),
    "one host shares its pool": (["--tpu-type=v5p-8"], lambda m: "metadata" in job(m, WORKER)["template"], False),
    "spot": (
        ["--spot"],
        lambda m: (spec(m, WORKER)["nodeSelector"]["cloud.google.com/gke-spot"], spec(m, WORKER)["tolerations"][-1]),
        ("true", {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}),
    ),
    "spot leaves the head": (["--spot"], lambda m: "cloud.google.com/gke-spot" in spec(m, HEAD)["nodeSelector"], False),
    "flex": (["--flex"], lambda m: spec(m, WORKER)["nodeSelector"]["cloud.google.com/gke-flex-start"], "true"),
    "on-demand": (["--on-demand"], lambda m: len(spec(m, WORKER)["tolerations"]), 3),
    "reservation": (
        ["--reservation=projects/other-proj/reservations/r1"],
        lambda m: [spec(m, WORKER)["nodeSelector"][f"{GKE}/reservation-{key}"] for key in ("name", "project")],
        ["r1", "other-proj"],
    ),
    "tpu7x policy": (
        ["--tpu-type=tpu7x-16"],
        lambda m: spec(m, WORKER)["nodeSelector"]["cloud.google.com/placement-policy-name"],
        "tpu7x-16-2x2x2-placement-policy",
    ),
    "persistence default": ([], lambda m: "ENABLE_PATHWAYS_PERSISTENCE" in env(container(m, "main")), False),
    "persistence": (["--persistence"], lambda m: env(container(m, "main"))["ENABLE_PATHWAYS_PERSISTENCE"], "1"),
    "debug logs": (
        ["--enable-debug-logs"],
        lambda m: [env(container(m, "main"))[name] for name in ("TPU_STDERR_LOG_LEVEL", "TPU_VMODULE")],
        ["0", "real_program_continuator=1"],
    ),
    "env of ours at our place": (
        ["--env=JAX_PLATFORMS=cpu", "--env=B=2", "--env=A=1", "--env=B=3"],
        lambda m: [(entry["name"], entry.get("value")) for entry in container(m, "main")["env"]],
        [
            ("PATHWAYS_HEAD", None),
            ("JAX_PLATFORMS", "cpu"),
            ("JAX_BACKEND_TARGET", "grpc://$(PATHWAYS_HEAD):29000"),
            ("XCLOUD_ENVIRONMENT", "GCP"),
            ("PYTHONUNBUFFERED", "1"),
            ("B", "3"),
            ("A", "1"),
        ],
    ),
    "env only in main": (["--env=A=1"], lambda m: "A" in env(container(m, "pathways-worker")), False),
    "env secret": (
        ["--env-secret=HF_TOKEN=hf/token"],
        lambda m: env(container(m, "main"))["HF_TOKEN"],
        {"secretKeyRef": {"name": "hf", "key": "token"}},
    ),
    "labels everywhere": (
        ["--label=team=vision"],
        lambda m: [place["metadata"]["labels"]["team"] for place in everywhere(m)],
        ["vision"] * 3,
    ),
    "annotations everywhere": (
        ["--annotation=why=because of it"],
        lambda m: [place["metadata"]["annotations"]["why"] for place in everywhere(m)],
        ["because of it"] * 3,
    ),
    "an annotation of ours is yours": (
        ["--annotation=cluster-autoscaler.kubernetes.io/safe-to-evict=true"],
        lambda m: pod(m, HEAD)["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"],
        "true",
    ),
    "workload label": (
        [],
        lambda m: [place["metadata"]["labels"]["xpk.google.com/workload"] for place in everywhere(m)],
        ["demo"] * 3,
    ),
    "proxy args": (
        ["--custom-pathways-proxy-server-args=--a=1 '--b=x y'"],
        lambda m: container(m, "pathways-proxy")["args"][-2:],
        ["--a=1", "--b=x y"],
    ),
    "slice scope": (
        ["--restart-scope=slice", "--num-slices=3", "--elastic-slices=3", "--max-slice-restarts=10"],
        lambda m: (
            m["spec"]["failurePolicy"]["maxRestarts"],
            [rule["action"] for rule in m["spec"]["failurePolicy"]["rules"]],
            backoff(m),
            spec(m, WORKER)["restartPolicy"],
        ),
        (33, ["RestartJob", "RestartJobSet"], 0, "Never"),
    ),
    "auto is pod without a cluster": (["--restart-scope=auto"], lambda m: "rules" in m["spec"]["failurePolicy"], False),
    "exit codes": (
        ["--restart-on-exit-codes=1,3-5", "--max-restarts=2"],
        lambda m: (
            job(m, HEAD)["template"]["spec"]["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"][:6],
            m["spec"]["failurePolicy"]["rules"][0]["action"],
        ),
        ([1, 3, 4, 5, 42, 127], "FailJobSet"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EFFECTS)
def test_what_a_flag_does(xlaunch, name):
    flags, look, expected = EFFECTS[name]
    assert look(rendered(xlaunch, *flags)) == expected


REFUSED = {
    "no command": ([], (*LINE, *IMAGE), "no command"),
    "dashes and nothing": (["--"], (*LINE, *IMAGE), "no command"),
    "two commands": (["--", "true"], (*LINE, *IMAGE, *COMMAND), "two commands"),
    "a line as one word": (["--", "python3 train.py a=b"], (*LINE, *IMAGE), "Take the quotes away"),
    "no image": ([], (*LINE, *COMMAND), "--docker-image"),
    "no scratch": ([], (*LINE[:2], *IMAGE, *COMMAND), "--pathways-gcs-location"),
    "unknown type": (["--tpu-type=v5litepod-24"], None, "v5litepod-16"),
    "unknown machine": (["--machine-type=n2-standard-8"], None, "ct5lp-hightpu-Nt"),
    "headless with a command": (["--headless"], None, "--headless and --command"),
    "headless with an image": (["--headless"], (*LINE, *IMAGE), "--headless and --docker-image"),
    "two capacities": (["--spot", "--flex"], None, "--spot and --flex"),
    "reservation": (["--reservation=a/b"], None, "projects/PROJECT/reservations/NAME"),
    "scope": (["--restart-scope=host"], None, "none of pod, slice and auto"),
    "too many for slice scope": (["--restart-scope=slice", "--num-slices=1025"], None, "1024"),
    "tmp": (["--scratch=gs://x"], None, "neither emptyDir nor hostPath"),
    "memory": (["--main-memory=lots"], None, "64Gi"),
    "no memory": (["--main-memory=0"], None, "64Gi"),
    "container's name": (["--docker-name=pathways-rm"], None, "taken"),
    "namespace": (["--namespace=Has_Upper"], None, "namespace"),
    "queue": (["--queue=a b"], None, "--queue"),
    "label": (["--label=team"], None, "KEY=VALUE"),
    "reserved label": (["--label=kueue.x-k8s.io/queue-name=q"], None, "--queue"),
    "reserved annotation": (["--annotation=jobset.sigs.k8s.io/coordinator=x"], None, "JobSet"),
    "env unset": (["--env=NOT_SET_ANYWHERE"], None, "not set"),
    "env and secret": (["--env=A=1", "--env-secret=A=s/k"], None, "--env-secret"),
    "secret": (["--env-secret=A=s"], None, "NAME=SECRET/KEY"),
    "exit codes": (["--restart-on-exit-codes=0"], None, "1 to 255"),
    "dry run": (["--dry-run=maybe"], None, "not a kind"),
    "dry run of a variable that is not set": (["--dry-run="], None, "--dry-run is empty"),
    "no template": (["--template="], None, "--template is empty"),
    "no patch": (["--patch", ""], None, "--patch is empty"),
    "no env file": (["--env-file="], None, "--env-file is empty"),
    "no manifest file": (["--output-manifest-file="], None, "--output-manifest-file is empty"),
    "no reservation": (["--reserv="], None, "--reservation is empty"),
    "endless template": (["--template=/dev/zero"], None, "larger than 8 MB"),
    "endless patch": (["--patch=/dev/zero"], None, "larger than 8 MB"),
    "endless env file": (["--env-file=/dev/zero"], None, "larger than 8 MB"),
    "both": (["--no-dry-run"], None, "contradict"),
    "diff": (["--diff"], None, "contradict"),
    "env file": (["--env-file=/nowhere"], None, "can't be read"),
    "template": (["--template=/nowhere"], None, "can't be read"),
    "patch": (["--patch=/nowhere"], None, "can't be read"),
    "many hosts": (["--num-slices=2147483647"], None, "--num-slices"),
    "storage": (["--storage=mine"], None, "xlaunch template export"),
    "tensorboard": (["--use-vertex-tensorboard"], None, "TensorBoard"),
    "experiment": (["--experiment-name=x"], None, "TensorBoard"),
    "script dir": (["--script-dir=."], None, "build"),
    "renamed": (["--remote-python-sidecar-image=x"], None, "--colocated-python-sidecar-image"),
    "device type": (["--device-type=v5p-8"], None, "--tpu-type"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_what_it_says(xlaunch, name):
    flags, base, said = REFUSED[name]
    done = create(xlaunch, *flags, base=base or (*LINE, *IMAGE, *COMMAND))
    assert (done.code, done.stdout) == (2, "")
    assert said in done.stderr
    error, *following = [line for line in done.stderr.splitlines() if not line.startswith("Note:")]
    assert error.startswith("Error: ")
    assert following, "no next command"


@pytest.mark.parametrize("name", ["a" * 38, "a" * 39, "a" * 40, "B" * 41, "My_Run." * 30, "-", ""])
def test_the_name_that_is_proposed_is_taken(xlaunch, name):
    refused = create(xlaunch, f"--workload={name}")
    assert refused.code == 2
    proposed = refused.stderr.rpartition("--workload=")[2].partition(",")[0]
    assert create(xlaunch, f"--workload={proposed}").code == 0


NOTED = {
    "project number": (["--project-number=1"], "--project-number has no effect"),
    "skip validation": (["--skip-validation"], "--skip-validation has no effect"),
    "parallel containers": (["--no-use-parallel-containers"], "--use-parallel-containers has no effect"),
    "prefix": (["--num-sl=2"], "--num-sl is read as --num-slices"),
    "head": ([], "cpu-np"),
    "credential": (["--env=WANDB_API_KEY=x"], "--env-secret WANDB_API_KEY"),
    "exit codes alone": (["--restart-on-exit-codes=1"], "--max-restarts"),
    "slice scope": (["--restart-scope=slice"], "RestartJob"),
    "two places": (["--head-nodepool=a", "--head-node-selector=b=c"], "--head-nodepool is not used"),
}


@pytest.mark.parametrize("name", NOTED)
def test_what_is_said_and_done_all_the_same(xlaunch, name):
    flags, said = NOTED[name]
    done = create(xlaunch, *flags)
    assert done.code == 0
    assert said in done.stderr


def test_quiet_flags_of_xpk_are_taken(xlaunch):
    done = create(xlaunch, "--quiet", "--head-nodepool=x", "--zone=z", "--project=p", "--cluster=c")
    assert (done.code, done.stderr) == (0, "")


def test_a_credential_is_never_said(xlaunch):
    assert "hunter2" not in create(xlaunch, "--env=DB_PASSWORD=hunter2").stderr


def test_the_callers_own_value(xlaunch):
    manifest = rendered(xlaunch, "--env=HOST_VALUE", env={"HOST_VALUE": "a b"})
    assert env(container(manifest, "main"))["HOST_VALUE"] == "a b"


def test_headless_has_no_main_container(xlaunch):
    manifest = rendered(xlaunch, "--headless", base=LINE)
    head = spec(manifest, HEAD)
    assert [each["name"] for each in head["containers"]] == ["pathways-rm", "pathways-proxy"]
    assert "initContainers" not in head
    assert "successPolicy" not in manifest["spec"]
    assert all("restartPolicy" not in each for each in head["containers"])


def test_dry_run_never_takes_the_next_word(xlaunch):
    done = xlaunch("workload", "create-pathways", *LINE, *IMAGE, "--dry-run", "--command", "true")
    assert done.code == 0
    assert yaml.safe_load(done.stdout)["kind"] == "JobSet"


def test_json_and_yaml_are_the_bare_manifest(xlaunch):
    plain = create(xlaunch)
    assert json.loads(create(xlaunch, "-o", "json").stdout) == yaml.safe_load(plain.stdout)
    assert create(xlaunch, "-o", "yaml").stdout_bytes == plain.stdout_bytes


def test_the_same_line_gives_the_same_bytes(xlaunch):
    first, second = create(xlaunch), create(xlaunch, env={"USER": "somebody", "TZ": "Asia/Tokyo"})
    assert first.stdout_bytes == second.stdout_bytes


def test_a_file_that_can_not_be_written_is_exit_1_and_prints_nothing(xlaunch):
    done = create(xlaunch, "--output-manifest-file=/nowhere/x.yaml")
    assert (done.code, done.stdout) == (1, "")
    assert "can't be written" in done.stderr
