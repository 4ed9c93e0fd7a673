"""docs/xpk-compatibility.md lists every difference from xpk's manifest, and nothing that is none."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml
from support.pathways import rendered

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = (ROOT / "docs" / "xpk-compatibility.md").read_text(encoding="utf-8")
XPK = yaml.safe_load((ROOT / "tests" / "data" / "xpk-pathways.yaml").read_text(encoding="utf-8"))
# The flags that tests/data/xpk-pathways.yaml was made with; xpk's default bucket is Google's, which we refuse
LINE = (
    *("--workload=w", "--tpu-type=v5litepod-16", "--num-slices=3", "--elastic-slices=3", "--max-slice-restarts=10"),
    *("--docker-image=img", "--command=python3 train.py", "--pathways-gcs-location=gs://cloud-pathways/tmp"),
)
SHORT = {
    "spec.replicatedJobs[pathways-head].template.spec.template": "head.pod",
    "spec.replicatedJobs[worker].template.spec.template": "worker.pod",
    "spec.replicatedJobs[pathways-head].template": "head.job",
    "spec.replicatedJobs[worker].template": "worker.job",
}


def leaves(value, path=""):
    """Every leaf with its path; items of a list by their name or key, arguments by themselves, sidecars in order."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        if path.endswith(".initContainers"):
            yield shortened(f"{path} order"), [item["name"] for item in value]
        for item in value:
            named = isinstance(item, dict)
            key = item.get("name") or item.get("key") or item.get("containerPort") if named else item
            yield from leaves(item if named else True, f"{path}[{key}]")
    else:
        yield shortened(path), value.strip() if isinstance(value, str) else value


def shortened(path):
    for long, short in SHORT.items():
        if path.startswith(long):
            return short + path.removeprefix(long)
    return path


def differences(ours):
    theirs, ours = dict(leaves(XPK)), dict(leaves(ours))
    bucket = "gs://cloud-pathways-staging/tmp"
    theirs = {path.replace(bucket, "gs://cloud-pathways/tmp"): value for path, value in theirs.items()}
    return {path for path in theirs.keys() | ours.keys() if theirs.get(path) != ours.get(path)}


def documented():
    table = DOCUMENT.partition("## The manifest")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [pattern.replace("[", "[[]") for row in rows for pattern in re.findall(r"`([^`]+)`", row)]


@pytest.fixture
def found(xlaunch):
    return differences(rendered(xlaunch, "--docker-name=jax-tpu", base=LINE))


def test_every_difference_is_documented(found):
    assert sorted(path for path in found if not any(fnmatchcase(path, pattern) for pattern in documented())) == []


def test_every_documented_difference_is_one(found):
    patterns = documented()
    assert patterns
    assert [pattern for pattern in patterns if not any(fnmatchcase(path, pattern) for path in found)] == []


GCLUSTER = """
await-job-completion base-image build-context cluster command compute-type cpu-affinity dry-run-out
gke-disable-parallel-containers gke-nap-provisioning gke-nap-reservation gke-scheduler gke-ttl-after-finished
grace-period image image-pull-secret location mount name node-constraint num-nodes num-slices pathways
pathways-colocated-python-sidecar-image pathways-elastic-slices pathways-gcs-location pathways-head-np
pathways-headless pathways-max-slice-restarts pathways-proxy-args pathways-proxy-server-image pathways-server-args
pathways-server-image pathways-worker-args pathways-worker-image placement-policy platform priority project queue
restart-on-exit-codes restarts service-account timeout topology verbose
""".split()  # noqa: SIM905


def test_every_flag_of_gcluster_has_a_row():
    table = DOCUMENT.partition("## Flags of gcluster")[2]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `--")]
    named = {flag for row in rows for flag in re.findall(r"`--([a-z-]+)`", row)}
    assert named == set(GCLUSTER)


def test_every_flag_named_as_ours_exists(xlaunch):
    table = DOCUMENT.partition("## Flags of gcluster")[2]
    ours = {flag for line in table.splitlines() if line.startswith("| `--") for flag in re.findall(
        r"`--([a-z-]+)", line.split("|")[2])}  # fmt: skip
    shown = xlaunch("workload", "create-pathways", "--help").stdout
    assert {flag for flag in ours if f"--{flag}" not in shown} == set()


def test_every_flag_of_xpk_that_we_answer_has_a_row():
    from xlaunch.cli.xpk_flags import PATHWAYS_FLAGS

    table = DOCUMENT.partition("## Flags of xpk")[2].partition("\n## ")[0]
    names = {name.partition("/")[0] for flag in PATHWAYS_FLAGS for name in flag.names}
    assert {name for name in names if f"`{name}`" not in table} == set()
