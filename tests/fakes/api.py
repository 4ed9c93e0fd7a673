"""Two fakes of `Api`: one that answers from a script, one that is a small store of objects."""

import json
from contextlib import contextmanager
from dataclasses import dataclass, field

from xlaunch.cluster.api import ApiError, Reply


def status_error(status, reason, message="", **details):
    """The error by which an API server refuses."""
    return ApiError(status, reason, message or reason, details=details)


@dataclass(frozen=True)
class Call:
    """One request as it was made; `query` as a dict."""

    method: str
    path: str
    query: dict = field(default_factory=dict)
    body: object = None


class FakeStream:
    """A body in pieces; an exception among them is raised in its place."""

    def __init__(self, pieces):
        self.pieces = list(pieces)

    def read(self, size=65536):
        if not self.pieces:
            return b""
        piece = self.pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        if callable(piece):
            return piece()
        return piece


class ScriptedApi:
    """Answers requests in the order of a script; every call is kept in `calls`.

    An answer is a body, a Reply, an exception to raise, or for streams a list of pieces. The script's last answers
    having been given, another request is a failure of the test.
    """

    def __init__(self, *answers, namespace="default"):
        self.namespace = namespace
        self.answers = list(answers)
        self.calls = []

    def _next(self, call):
        self.calls.append(call)
        assert self.answers, f"nothing is scripted for {call}"
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def request(self, method, path, *, query=(), body=None, content_type="", accept="", timeout=0):
        answer = self._next(Call(method, path, dict(query), body))
        return answer if isinstance(answer, Reply) else Reply(200, answer)

    @contextmanager
    def stream(self, path, *, query=(), accept="", idle_timeout=0):
        yield FakeStream(self._next(Call("STREAM", path, dict(query))))


def object_list(*items, version="1", token=""):
    """A list as the server sends it."""
    return {"metadata": {"resourceVersion": version, "continue": token}, "items": list(items)}


def thing(name, version="1", uid="", **metadata):
    """An object with no more than its metadata."""
    return {"metadata": {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": version, **metadata}}


def event(kind, item):
    """One line of a watch stream."""
    return json.dumps({"type": kind, "object": item}).encode() + b"\n"
