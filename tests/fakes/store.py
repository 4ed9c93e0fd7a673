"""A fake of `Api` that is a small store: objects are read, created, deleted and watched, with faults in the way."""

import copy
import json
import re
from contextlib import contextmanager

from fakes.api import Call, FakeStream, event, object_list, status_error
from xlaunch.cluster.api import Reply
from xlaunch.core.errors import NetworkError
from xlaunch.core.jobset_version import probe

TOO_LONG = 'admission webhook "vjobset.kb.io" denied the request: <nil>: spec will lead to invalid label value "x"'
LOST = NetworkError("Cannot reach the API server", why="Connection reset by peer")
NAMED = re.compile(r"(?P<collection>/apis?/.+/(?P<kind>jobsets|pods|nodes|jobs))/(?P<name>[^/]+)$")


class StoreApi:
    """Deletion takes `linger` seconds of the clock; None is for ever.

    `fail(method, *errors)` raises them one by one before anything happens. `lose(method)` does what was asked and
    loses the answer. `meanwhile(method, act)` lets somebody else act just before. A kind in `verdicts` is refused, or
    an object for which the function there returns an error; one in `forbidden` is not for this user to create, and one
    in `cautions` comes with warnings. `on_probe` is what JobSet's webhook says to who asks for its version, None for
    nothing, as up to 0.10.
    """

    def __init__(self, clock, namespace="default"):
        self.clock, self.namespace = clock, namespace
        self.objects, self.calls, self.history = {}, [], []
        self.linger, self.warnings = 0.0, ()
        self.errors, self.losses, self.others = {}, {}, {}
        self.leaving = {}
        self.verdicts, self.forbidden, self.cautions = {}, set(), {}
        self.on_probe = status_error(422, "Invalid", TOO_LONG)
        self.version = 0

    def fail(self, method, *errors):
        self.errors.setdefault(method, []).extend(errors)

    def lose(self, method):
        self.losses[method] = self.losses.get(method, 0) + 1

    def meanwhile(self, method, act):
        self.others.setdefault(method, []).append(act)

    def put(self, item, collection=""):
        """Stores an object as if it had been there."""
        collection = collection or f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{self.namespace}/jobsets"
        self.version += 1
        stored = copy.deepcopy(item)
        metadata = stored["metadata"]
        metadata.setdefault("uid", f"uid-{self.version}")
        metadata.setdefault("namespace", self.namespace)
        metadata.setdefault("creationTimestamp", f"{self.clock.now():%Y-%m-%dT%H:%M:%SZ}")
        metadata["resourceVersion"] = str(self.version)
        self.objects[f"{collection}/{metadata['name']}"] = stored
        return copy.deepcopy(stored)

    def remove(self, path):
        self.version += 1
        gone = self.objects.pop(path)
        gone["metadata"]["resourceVersion"] = str(self.version)
        self.leaving.pop(path, None)
        self.history.append((self.version, path.rpartition("/")[0], event("DELETED", gone)))

    def request(self, method, path, *, query=(), body=None, content_type="", accept="", timeout=0):
        self.calls.append(Call(method, path, dict(query), body))
        if self.others.get(method):
            self.others[method].pop(0)()
        if self.errors.get(method):
            raise self.errors[method].pop(0)
        self._expire()
        reply = getattr(self, f"_{method.lower()}")(path, dict(query), body)
        if self.losses.get(method):
            self.losses[method] -= 1
            raise LOST
        return reply

    def _expire(self):
        for path, at in list(self.leaving.items()):
            if at is not None and at <= self.clock.monotonic():
                self.remove(path)

    def _get(self, path, query, body):
        if path in self.objects:
            return Reply(200, copy.deepcopy(self.objects[path]))
        if named := NAMED.match(path):
            raise status_error(404, "NotFound", f'{named["kind"]} "{named["name"]}" not found', name=named["name"])
        name = query.get("fieldSelector", "").removeprefix("metadata.name=")
        items = [item for key, item in self.objects.items() if key.rpartition("/")[0] == path]
        items = [item for item in items if name in ("", item["metadata"]["name"])]
        return Reply(200, object_list(*copy.deepcopy(items), version=str(self.version)))

    def _post(self, path, query, body):
        kind = body.get("kind")
        if body == probe() and self.on_probe:
            raise self.on_probe
        if kind == "SelfSubjectAccessReview":
            asked = body["spec"]["resourceAttributes"]["resource"]
            return Reply(201, {"status": {"allowed": asked not in {f"{each.lower()}s" for each in self.forbidden}}})
        if kind in self.forbidden:
            raise status_error(403, "Forbidden", f'{kind} is forbidden: User "me" cannot create resource')
        verdict = self.verdicts.get(kind)
        if verdict := verdict(body) if callable(verdict) else verdict:
            raise verdict
        name = body["metadata"].get("name") or body["metadata"]["generateName"] + "abcde"
        key = f"{path}/{name}"
        if key in self.objects:
            raise status_error(409, "AlreadyExists", "already exists", name=name)
        if query.get("dryRun") == "All":
            return Reply(201, copy.deepcopy(body), tuple(self.cautions.get(kind, ())))
        return Reply(201, self.put(body, path), tuple(self.warnings))

    def _delete(self, path, query, body):
        if path not in self.objects:
            raise status_error(404, "NotFound", "not found", name=path.rpartition("/")[2])
        metadata = self.objects[path]["metadata"]
        if metadata["uid"] != body["preconditions"]["uid"]:
            raise status_error(409, "Conflict", "the UID in the precondition does not match")
        metadata.setdefault("deletionTimestamp", f"{self.clock.now():%Y-%m-%dT%H:%M:%SZ}")
        if path not in self.leaving:
            self.leaving[path] = None if self.linger is None else self.clock.monotonic() + self.linger
        return Reply(200, copy.deepcopy(self.objects[path]))

    @contextmanager
    def stream(self, path, *, query=(), accept="", idle_timeout=0):
        query = dict(query)
        self.calls.append(Call("STREAM", path, query))
        until = self.clock.monotonic() + float(query["timeoutSeconds"])
        since = int(query["resourceVersion"])
        told = 0

        def piece():
            """Sleeps until something happens, or the request's time is over."""
            nonlocal told
            soonest = min((at for at in self.leaving.values() if at is not None), default=until)
            if soonest <= until:
                self.clock.sleep(max(0.0, soonest - self.clock.monotonic()))
                self._expire()
            news = [line for version, place, line in self.history if version > since and place == path][told:]
            told += len(news)
            if not news:
                self.clock.sleep(max(0.0, until - self.clock.monotonic()))
            return b"".join(news)

        yield FakeStream([piece] * 20)


def bodies(api, method):
    """What was sent by this method."""
    return [json.loads(json.dumps(call.body)) for call in api.calls if call.method == method]
