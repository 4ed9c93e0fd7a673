"""What a scenario knows of a cluster: xlaunch as a user runs it, and kubectl."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import jsonschema

from testbed.instance import Instance
from testbed.pytest_plugin import missing
from xlaunch.cli.boundary import run
from xlaunch.cli.session import Session
from xlaunch.cluster.api import JOBSET_GROUP_VERSION, namespaced
from xlaunch.cluster.connect import TargetOptions, connect

# A shell ignores SIGINT in what it starts with `&`, which all children inherit: then Ctrl-C could not be tested
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "docs" / "schema.json").read_text(encoding="utf-8"))
# The kinds that scenarios wait for, and where they are
POLLED = {"pod": "v1", "event": "v1", "node": "v1", "job": "batch/v1", "jobset": JOBSET_GROUP_VERSION}


@dataclass(frozen=True)
class World:
    """One cluster, and a user with a home of their own.

    `unit`: how many seconds a second of its controllers takes. `plane`: the testbed's instance, on a real one.
    """

    home: Path
    flags: tuple[str, ...]
    kubeconfig: Path | None = None
    env: dict[str, str] = field(default_factory=dict)
    unit: float = 1.0
    plane: Instance | None = None

    def environment(self):
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "PYENV_VERSION", "PYENV_ROOT") if key in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "PYTHONUNBUFFERED": "1",
            **self.env,
        }

    def xlaunch(self, *argv, code=0, timeout=120, target=True):
        """Runs a command against this cluster and returns what it printed; any other exit code fails the test."""
        line = [sys.executable, "-m", "xlaunch", *place(argv, self.flags if target else ())]
        done = subprocess.run(
            line, check=False, env=self.environment(), cwd=ROOT, capture_output=True, text=True, timeout=timeout
        )
        assert done.returncode == code, f"{line} ended with {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *argv, code=0, timeout=120, target=True):
        """The object that a command prints with `-o json`, which must fit docs/schema.json."""
        body = json.loads(self.xlaunch(*place(argv, ("-o", "json")), code=code, timeout=timeout, target=target).stdout)
        jsonschema.validate(body, {"$ref": f"#/$defs/{body['kind']}", "$defs": SCHEMA["$defs"]})
        return body

    def look(self, *argv):
        """As `json`, but in this process: a busy machine may need seconds to start another, and some things pass."""
        out = io.StringIO()
        assert run(place(argv, (*self.flags, "-o", "json")), Session(stdout=out, env=self.environment())) == 0
        body = json.loads(out.getvalue())
        jsonschema.validate(body, {"$ref": f"#/$defs/{body['kind']}", "$defs": SCHEMA["$defs"]})
        return body

    @cached_property
    def api(self):
        """The API server, for what must not take the time that kubectl takes to start."""
        return connect(TargetOptions(kubeconfig=str(self.kubeconfig)), {}).api

    def start(self, *argv):
        """Starts a command and returns the process, with pipes."""
        line = [sys.executable, "-m", "xlaunch", *place(argv, self.flags)]
        return subprocess.Popen(line, env=self.environment(), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def kubectl_line(self, *argv):
        """A line of kubectl, for what needs its process."""
        return [kubectl(), "--kubeconfig", str(self.kubeconfig), *argv]

    def kubectl(self, *argv, stdin=None, code=0, timeout=60):
        line = self.kubectl_line(*argv)
        done = subprocess.run(
            line, check=False, input=stdin, env=self.environment(), capture_output=True, text=True, timeout=timeout
        )
        assert done.returncode == code, f"{line} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def patch(self, kind, name, change, *argv):
        """Merges `change` into an object that lives."""
        self.kubectl("patch", kind, name, *argv, "--type=merge", "-p", json.dumps(change))

    def get(self, kind, name=None, *argv):
        """An object, or the items of a list, as kubectl sees them; what is often polled needs no kubectl."""
        if (version := POLLED.get(kind.rstrip("s"))) and not argv:
            plural = f"{kind.rstrip('s')}s"
            path = f"/api/v1/{plural}" if kind.startswith("node") else namespaced(self.api, version, plural)
            found = self.api.request("GET", f"{path}/{name}" if name else path).body
        else:
            found = json.loads(self.kubectl("get", kind, *([name] if name else []), *argv, "-o", "json"))
        return found if name else found["items"]

    def pod(self, prefix):
        """The one living pod whose name begins so."""
        names = [
            pod["metadata"]["name"]
            for pod in self.get("pods")
            if pod["metadata"]["name"].startswith(prefix) and "deletionTimestamp" not in pod["metadata"]
        ]
        assert len(names) == 1, f"{len(names)} pods begin with {prefix}: {names}"
        return names[0]

    def create(self, name, *argv, command=("sleep", "600"), slices=1, elastic=True, code=0):
        """A small workload; its main runs `command`."""
        shape = [
            "--tpu-type=v5litepod-16",
            f"--num-slices={slices}",
            "--docker-image=img",
            "--pathways-gcs-location=gs://my-bucket/tmp",
        ]
        budget = [f"--elastic-slices={slices}", "--max-slice-restarts=2"] if elastic else []
        return self.xlaunch(
            "workload", "create-pathways", f"--workload={name}", *shape, *budget, *argv, "--", *command, code=code
        )


@contextmanager
def attached(kubeconfig, *flags, log):
    """The node agent on a real control plane, as a process that ends with the context, or with this one."""
    line = [sys.executable, "-m", "xlaunch.local.attach", "--kubeconfig", str(kubeconfig), *flags]
    pipe = subprocess.PIPE
    with log.open("wb") as errors, subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=errors, cwd=ROOT) as process:
        try:
            assert process.stdout.readline().startswith(b"Attached"), log.read_text()
            yield process
        finally:
            process.terminate()


@contextmanager
def rehearsal(home, *flags):
    """The kubeconfig of an embedded cluster, which ends with the context, or with this process."""
    world, up = World(home, ()), (sys.executable, "-m", "xlaunch", "local", "up", "--foreground", *flags)
    line = [sys.executable, "-m", "testbed.tether", str(os.getpid()), *up]
    with subprocess.Popen(line, env=world.environment(), cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = []
            while not (said and said[-1].startswith("export KUBECONFIG=")):
                said.append(process.stderr.readline())
                assert said[-1], "".join(said)
            yield Path(said[-1].partition("=")[2].strip())
        finally:
            process.send_signal(signal.SIGINT)


def kubectl():
    """Where it is; whoever asks for it is skipped where it is not, and fails in CI."""
    return shutil.which("kubectl") or missing("kubectl", "there is none on PATH", os.environ)


def place(argv, flags):
    """The flags before `--`, where they are ours."""
    at = argv.index("--") if "--" in argv else len(argv)
    return [*argv[:at], *flags, *argv[at:]]


def until(check, what, timeout=60):
    """Waits for a truth about a cluster; the scenarios' only way to wait."""
    end = time.monotonic() + timeout
    while True:
        began = time.monotonic()
        if found := check():
            return found
        now = time.monotonic()
        assert now < end, f"waited {timeout} s for {what}"
        # Rests as long as it looked: others of a busy machine get a turn
        time.sleep(max(0.1, now - began))
