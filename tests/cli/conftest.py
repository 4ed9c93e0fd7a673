"""A cluster for command lines: a kubeconfig whose server is a small store behind HTTP."""

import json

import pytest
from fakes.api import event
from fakes.clock import FakeClock
from fakes.objects import pod
from fakes.server import Answer, Server
from fakes.store import StoreApi
from fakes.workload import FakeWorkload

from xlaunch.cluster.api import ApiError
from xlaunch.cluster.connect import Connection


class StoreServer(Server):
    """Serves a StoreApi; `version` is what /version says."""

    def __init__(self):
        super().__init__(self.reply)
        self.clock = FakeClock()
        self.store = StoreApi(self.clock)
        self.answers = {"/version": {"gitVersion": "v1.35.4"}}

    def reply(self, request):
        if request.path in self.answers:
            return self.answers[request.path]
        if "watch" in request.query:
            return self.watch(request)
        body = request.json if request.body else None
        try:
            found = self.store.request(request.method, request.path, query=request.query, body=body)
        except ApiError as error:
            return Answer(error.status, {"message": error.message, "reason": error.reason, "details": error.details})
        warnings = [("Warning", f'299 - "{text}"') for text in found.warnings]
        return Answer(found.status, found.body, headers=warnings)

    def watch(self, request):
        """What went since; a watch of a store that no longer changes ends at once."""
        self.store._expire()
        since = int(request.query["resourceVersion"])
        news = [line for version, place, line in self.store.history if version > since and place == request.path]
        return Answer(chunks=[*news, event("BOOKMARK", {"metadata": {"resourceVersion": str(self.store.version)}})])


@pytest.fixture
def cluster(tmp_path, xlaunch):
    """`cluster.run("workload", "list")` runs a line there; `cluster.store` is what it has."""
    with StoreServer() as server:
        path = tmp_path / "kubeconfig"
        path.write_text(
            json.dumps(
                {
                    "clusters": [{"name": "c", "cluster": {"server": server.url}}],
                    "contexts": [{"name": "dev", "context": {"cluster": "c"}}],
                    "current-context": "dev",
                }
            )
        )
        server.kubeconfig = path
        server.run = lambda *line, **options: xlaunch(
            *line, env={"KUBECONFIG": str(path)}, clock=server.clock, **options
        )
        yield server


@pytest.fixture
def train(monkeypatch):
    """The workload that every command is connected to."""
    made = FakeWorkload()
    made.workers = [pod("worker", s, h) for s in range(3) for h in range(4)]
    for command in ("logs", "status", "wait"):
        monkeypatch.setattr(
            f"xlaunch.cli.{command}.connect", lambda *_, **__: Connection(made, "context dev", ("--context=dev",))
        )
    return made


@pytest.fixture
def run(xlaunch, train):
    return lambda *line, **options: xlaunch(*line, clock=train.clock, **options)
