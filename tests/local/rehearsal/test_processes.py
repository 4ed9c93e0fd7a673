"""All stand-ins as processes that talk to each other, through the faults of a rehearsal; time runs 20 times faster."""

import os
import signal
import subprocess
import sys
import time

import pytest

from xlaunch.core.loglines import Kind, parse
from xlaunch.core.recovery import recoveries
from xlaunch.local.rehearsal.images import RUN, SHIMS

# Their addresses are fixed, and half a second without a heartbeat is the death of a worker
pytestmark = [pytest.mark.e2e, pytest.mark.alone]

COMMAND = ["base.yml", "run_name=r", "base_output_directory=gs://b/o", "checkpoint_period=20"]
HEAD, SCALE, PATIENCE = "127.0.61.1", "0.05", 30.0


class Stage:
    """Two slices of two hosts, a resource manager and a proxy on one head, and a trainer."""

    def __init__(self, directory):
        self.directory = directory
        (directory / "hosts").write_text(f"{HEAD} js-head-0-0 js-head-0-0.js\n")
        self.processes = {}

    def start(self, name, argv, ip=HEAD, **env):
        log = (self.directory / f"{name}.log").open("ab")
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SHIMS),
            "XLAUNCH_TIME_SCALE": SCALE,
            "XLAUNCH_HOSTS": str(self.directory / "hosts"),
            "XLAUNCH_BUCKETS": str(self.directory / "buckets"),
            "XLAUNCH_POD_IP": ip,
            **env,
        }
        self.processes[name] = subprocess.Popen(argv, env=environment, stderr=log, stdout=log, cwd=self.directory)
        log.close()
        return self.processes[name]

    def stand_in(self, name, role, *flags, **env):
        return self.start(name, [sys.executable, "-I", str(RUN), role, *flags], **env)

    def manager(self):
        size = ["--instance_count=2", "--instance_type=tpuv5e:2x4"]
        return self.stand_in("rm", "resource_manager", "--server_port=29001", *size)

    def proxy(self, elastic=2):
        flags = ["--server_port=29000", "--resource_manager_address=js-head-0-0.js:29001"]
        return self.stand_in("proxy", "proxy", *flags, f"--num_elastic_slices={elastic}")

    def worker(self, index, host, attempt=0):
        return self.stand_in(
            f"worker-{index}-{host}",
            "worker",
            "--chips=4",
            "--server_port=29005",
            "--resource_manager_address=js-head-0-0.js:29001",
            ip=f"127.0.62.{1 + index * 10 + host + attempt * 100}",
            MEGASCALE_SLICE_ID=str(index),
            JOB_COMPLETION_INDEX=str(host),
        )

    def up(self, elastic=2):
        self.manager()
        self.proxy(elastic)
        for index in range(2):
            for host in range(2):
                self.worker(index, host)

    def trainer(self, *words):
        return self.start(
            "main",
            [
                sys.executable,
                "-S",
                "-m",
                "maxtext.trainers.pre_train.train",
                *COMMAND,
                "enable_single_controller=true",
                *words,
            ],
            JAX_PLATFORMS="proxy",
            JAX_BACKEND_TARGET="grpc://js-head-0-0.js:29000",
        )

    def log(self, name="main"):
        return (self.directory / f"{name}.log").read_bytes()

    def events(self):
        return [event for event in map(parse, self.log().splitlines()) if event]

    def until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, self.log().decode()[-3000:]
            time.sleep(0.02)

    def until_step(self, step):
        self.until(lambda: any(event.kind is Kind.STEP and event.step >= step for event in self.events()))

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


ELASTIC = ("elastic_enabled=true", "steps=90")


def test_a_killed_worker_and_its_replacement(stage):
    stage.up()
    trainer = stage.trainer(*ELASTIC)
    stage.until_step(30)
    stage.processes["worker-1-0"].kill()
    stage.until(lambda: any(event.kind is Kind.POLL for event in stage.events()))
    stage.worker(1, 0, attempt=1)
    assert trainer.wait(PATIENCE) == 0, stage.log().decode()
    (recovery,) = recoveries(stage.events())
    assert recovery.restored_step == 20
    assert recovery.first_step == 21
    assert recovery.steps_lost >= 10
    assert b"DATA_LOSS: slice 1 host 0" in stage.log("proxy")
    survivors = [event for event in stage.events() if event.kind is Kind.SURVIVOR]
    assert [event.length for event in survivors] == [1, 2]
    assert {event.pid for event in survivors} == {trainer.pid}


def test_a_worker_that_hangs_misses_its_heartbeats(stage):
    stage.up()
    stage.trainer(*ELASTIC)
    stage.until_step(5)
    os.kill(stage.processes["worker-0-1"].pid, signal.SIGSTOP)
    stage.until(lambda: any(event.kind is Kind.SLICE_DOWN for event in stage.events()))
    assert b"DEADLINE_EXCEEDED" in stage.log()
    assert b"No heartbeat of slice 0 host 1" in stage.log("rm")


def test_the_death_of_the_proxy_is_not_retried(stage):
    stage.up()
    trainer = stage.trainer(*ELASTIC)
    stage.until_step(5)
    stage.processes["proxy"].kill()
    assert trainer.wait(PATIENCE) == 1
    last = stage.log().decode().rstrip().splitlines()[-1]
    assert last == (
        "jax.errors.JaxRuntimeError: UNAVAILABLE: Connection to IFRT proxy server was terminated: "
        "UNAVAILABLE: Socket closed"
    )
    assert not any(event.kind is Kind.SLICE_DOWN for event in stage.events())
    stage.proxy()
    assert stage.trainer(*ELASTIC).wait(PATIENCE) == 0, "a new process goes on where the last checkpoint is"


def test_a_restart_of_the_resource_manager_is_not_noticed_by_the_trainer(stage):
    stage.up()
    trainer = stage.trainer(*ELASTIC)
    stage.until_step(5)
    stage.processes["rm"].kill()
    stage.processes["rm"].wait()
    stage.manager()
    assert trainer.wait(PATIENCE) == 0
    assert not recoveries(stage.events())
    stage.until(lambda: b"Whole slices: [0, 1]" in stage.log("rm").rpartition(b"REHEARSAL")[2])


def test_slices_that_never_come_end_it_before_the_timeout(stage):
    stage.manager()
    stage.proxy()
    assert stage.trainer(*ELASTIC, "elastic_timeout_seconds=25").wait(PATIENCE) == 1
    last = stage.log().decode().rstrip().splitlines()[-1]
    assert last.startswith("TimeoutError: Timed out waiting for 2 slices. Only 0 active after 20.")


def test_without_elastic_slices_a_lost_one_stays_lost(stage):
    stage.up(elastic=0)
    trainer = stage.trainer(*ELASTIC, "elastic_timeout_seconds=25")
    stage.until_step(5)
    stage.processes["worker-1-0"].kill()
    stage.worker(1, 0, attempt=1)
    assert trainer.wait(PATIENCE) == 1
    assert b"--num_elastic_slices=0: lost for good" in stage.log("proxy")


def test_without_elasticity_a_lost_slice_is_the_end(stage):
    stage.up()
    trainer = stage.trainer("steps=90")
    stage.until_step(5)
    stage.processes["worker-1-0"].kill()
    assert trainer.wait(PATIENCE) == 1
    assert b"JaxRuntimeError: DATA_LOSS" in stage.log()


def test_they_end_with_143_when_they_are_told_to(stage):
    stage.up()
    stage.trainer(*ELASTIC)
    stage.until_step(5)
    trainer = stage.processes.pop("main")
    trainer.terminate()
    assert trainer.wait(PATIENCE) == -signal.SIGTERM, "which the node agent reports as 143"
    assert b"Traceback" not in stage.log()
    for name, process in stage.processes.items():
        process.terminate()
        assert process.wait(PATIENCE) == 143, name
