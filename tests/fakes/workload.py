"""The fake kubelet with what `status` and `wait` need beside it: Jobs, a watch on the JobSet, refusals."""

from contextlib import contextmanager

from fakes.api import event, object_list, status_error
from fakes.kubelet import FakeKubelet
from fakes.objects import job
from xlaunch.cluster.api import Reply


class FakeWorkload(FakeKubelet):
    """One workload named train. `forbidden` are resources that may not be listed."""

    def __init__(self, *args):
        super().__init__(*args)
        self.jobs = [job("pathways-head"), *(job("worker", index) for index in range(3))]
        self.workers = []
        self.forbidden = set()
        self.asked = []

    def becomes(self, seconds, body):
        """From then on the JobSet is that; None when it is gone."""
        self.at(seconds, setattr, self, "jobset", body)

    def request(self, method, path, *, query=(), **rest):
        resource = path.rpartition("/")[2]
        self.asked.append(resource)
        if resource in self.forbidden:
            raise status_error(403, "Forbidden", f"{resource} is forbidden")
        if resource == "jobs":
            return Reply(200, object_list(*self.jobs))
        if resource == "jobsets":
            return Reply(200, object_list(*([self.jobset] if self.jobset else [])))
        reply = super().request(method, path, query=query, **rest)
        if resource == "pods":
            role = dict(query)["labelSelector"].partition("replicatedjob-name=")[2].partition(",")[0]
            workers = [] if role == "pathways-head" else self.workers
            return Reply(200, object_list(*reply.body["items"], *workers))
        return reply

    @contextmanager
    def stream(self, path, *, query=(), accept="", idle_timeout=300.0):
        if dict(query).get("watch"):
            yield Watch(self, float(dict(query)["timeoutSeconds"]))
            return
        with super().stream(path, query=query, accept=accept, idle_timeout=idle_timeout) as body:
            yield body


class Watch:
    """Tells a JobSet that became another; ends after its time."""

    def __init__(self, workload, seconds):
        self.workload, self.end = workload, workload.clock.seconds + seconds
        self.known = workload.jobset

    def read(self, size=65536):
        clock = self.workload.clock
        while self.workload.jobset is self.known:
            step = clock.until_next()
            if step is None or clock.seconds + step > self.end:
                clock.sleep(max(0.0, self.end - clock.seconds))
                return b""
            clock.sleep(step)
        before, self.known = self.known, self.workload.jobset
        kind, body = ("MODIFIED", self.known) if self.known else ("DELETED", before)
        version = str(int(clock.seconds * 1000) + 10)
        return event(kind, {**body, "metadata": {**body["metadata"], "resourceVersion": version}})
