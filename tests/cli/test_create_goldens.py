"""The manifests as they are printed: a type per family, elastic or not, with a training command or headless."""

import pytest
from support.pathways import create

TYPES = {
    "v4-32": 2,
    "v5p-64": 2,
    "v5litepod-16": 3,
    "v6e-8": 2,
    "tpu7x-16": 2,
    "tpu7-8": 1,
}
ELASTIC = ("--elastic-slices=1", "--max-slice-restarts=10")
LINE = ("--workload=demo", "--pathways-gcs-location=gs://my-bucket/pathways")
PATHWAYS = ("--docker-image=gcr.io/my-proj/maxtext:1",)
COMMAND = ("--", "python3", "-m", "maxtext.trainers.pre_train.train", "base.yml", "run_name=demo")


@pytest.mark.parametrize("mode", ["pathways", "headless"])
@pytest.mark.parametrize("elastic", [True, False], ids=["elastic", "plain"])
@pytest.mark.parametrize("tpu_type", TYPES)
def test_a_manifest_is_as_it_was(xlaunch, golden, tpu_type, elastic, mode):
    flags = (f"--tpu-type={tpu_type}", f"--num-slices={TYPES[tpu_type]}", *(ELASTIC if elastic else ()))
    if mode == "headless":
        done = create(xlaunch, "--headless", base=(*LINE, *flags))
    else:
        done = create(xlaunch, base=(*LINE, *flags, *PATHWAYS), rest=COMMAND)
    assert done.code == 0, done.stderr
    golden(f"create-pathways/{tpu_type}-{'elastic' if elastic else 'plain'}-{mode}.yaml", done.stdout)


FLAGS = {
    "every-flag": (
        *("--docker-name=jax-tpu", "--docker-image-pull-secret=pull", "--env=A=1", "--env=JAX_PLATFORMS=proxy,cpu"),
        *("--env-secret=HF_TOKEN=hf/token", "--priority=high", "--queue=team-queue", "--scheduler=my-scheduler"),
        *("--service-account=runner", "--label=team=vision", "--annotation=note=two words", "--spot", "--persistence"),
        *("--server-image=s:1", "--proxy-server-image=p:1", "--worker-image=w:1", "--main-cpu=8", "--main-memory=32G"),
        *("--colocated-python-sidecar-image=c:1", "--enable-debug-logs", "--max-restarts=5", "--proxy-memory=200G"),
        *("--restart-on-exit-codes=1", "--head-nodepool=big", "-tgps=60", "--ttl-seconds-after-finished=60"),
        *("--worker-toleration-seconds=90", "--rm-memory=64G", "--namespace=team-a", "--no-host-network"),
        *("--custom-pathways-server-args=--s=1", "--custom-pathways-proxy-server-args=--p='x y'"),
        *("--custom-pathways-worker-args=--w=1", "--scratch=hostPath"),
    ),
    "slice-scope": ("--num-slices=3", "--elastic-slices=3", "--max-slice-restarts=10", "--restart-scope=slice"),
    "long-name": ("--workload=elastic-qwen3-20261129-101500", "--command=cd /app\npython3 train.py"),
}


@pytest.mark.parametrize("name", FLAGS)
def test_what_flags_make_of_it_is_as_it_was(xlaunch, golden, name):
    done = create(xlaunch, *FLAGS[name])
    assert done.code == 0, done.stderr
    golden(f"create-pathways/{name}.yaml", done.stdout)
