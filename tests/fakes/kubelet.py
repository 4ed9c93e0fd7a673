"""A cluster of one head pod whose logs are served as a kubelet serves them, on a clock that moves as one reads.

What happens is scripted on the clock; what goes wrong on the wire is drawn from a seeded generator: cuts in the
middle of a line, clean ends while the container runs, stalls, refusals.
"""

import heapq
import random
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from fakes import objects
from fakes.api import object_list, status_error, thing
from fakes.clock import START, FakeClock
from fakes.kueue import summary
from xlaunch.cluster.api import Reply
from xlaunch.core.errors import NetworkError


@dataclass
class Log:
    """What one instance of a container wrote: (moment, line without its end) in the order of the file."""

    lines: list = field(default_factory=list)
    kept_from: int = 0  # rotation: lines before are no longer served
    ended: bool = False


@dataclass
class Faults:
    """Chances per read of a stream, and per opening."""

    cut: float = 0.0
    clean_end: float = 0.0
    stall: float = 0.0
    refuse: float = 0.0
    piece: int = 4096


class FakeKubelet:
    """`Api` over one scripted head pod; `at(seconds, do)` schedules what happens."""

    namespace = "default"

    def __init__(self, seed=0, faults=None):
        self.clock = WorldClock(self)
        self.random = random.Random(seed)
        self.faults = faults or Faults()
        self.jobset = objects.jobset()
        self.pods = {}
        self.logs = {}
        self.events = []
        self.workloads = None  # Kueue's; None where it is not installed
        self.places = []  # the names of the Workloads that wait, in their order
        self.agenda = []
        self.opened = []
        self.down = False  # nothing answers
        self.forgets = False  # dead containers are removed at once
        self.words = b""  # what the kubelet says in place of the log, once
        self.everything = []  # every line ever written, in order
        self._count = 0

    # ---- what happens in the cluster

    def at(self, seconds, do, *args):
        self._count += 1
        heapq.heappush(self.agenda, (seconds, self._count, do, args))

    def start_pod(self, suffix, attempt=0):
        pod = objects.pod(
            "pathways-head",
            suffix=suffix,
            attempt=attempt,
            created=stamp(self.clock.seconds, 0),
            statuses=[objects.status()],
        )
        uid = pod["metadata"]["uid"]
        self.pods[uid] = pod
        self.logs[uid] = [Log()]
        self._state(uid, objects.running(stamp(self.clock.seconds)))
        return uid

    def write(self, *lines, gap=0.001):
        """The newest pod's main container writes lines; `gap` is the time between two of them (0: the same stamp)."""
        log = self.logs[self.newest()][-1]
        begin = max(self.clock.seconds, log.lines[-1][0] if log.lines else 0.0)
        for number, line in enumerate(lines):
            log.lines.append((begin + number * gap, line))
            self.everything.append(line)

    def crash(self, code=1):
        """The container ends and the kubelet starts it again in place; it keeps the log of one dead instance."""
        self.crash_unseen()
        self.show(code)

    def crash_unseen(self):
        """As `crash`, but the pod's status does not say so yet."""
        log = self.logs[self.newest()]
        log[-1].ended = True
        log.append(Log())

    def show(self, code=1):
        """The pod's status says that the container runs after a crash."""
        uid = self.newest()
        restarts = len(self.logs[uid]) - 1
        self._state(uid, objects.running(stamp(self.clock.seconds)), restarts, objects.terminated(code))

    def back_off(self, code=1):
        """The container ends, and the kubelet lets it wait before it starts it again."""
        uid = self.newest()
        self.logs[uid][-1].ended = True
        self._state(uid, objects.waiting("CrashLoopBackOff"), len(self.logs[uid]) - 1, objects.terminated(code))

    def end(self, code=0):
        uid = self.newest()
        self.logs[uid][-1].ended = True
        self._state(uid, objects.terminated(code), len(self.logs[uid]) - 1)
        self.pods[uid]["status"]["phase"] = "Failed" if code else "Succeeded"

    def evict(self):
        """The Eviction API tells the pod to go."""
        said = objects.condition("DisruptionTarget", reason="EvictionByEvictionAPI", message="Eviction API: evicting")
        self.pods[self.newest()]["status"]["conditions"] = [said]

    def remove_pod(self):
        uid = self.newest()
        self.logs[uid][-1].ended = True
        del self.pods[uid]

    def rotate(self, keep=0):
        log = self.logs[self.newest()][-1]
        log.kept_from = max(log.kept_from, len(log.lines) - keep)

    def finish(self, word="Completed", reason="AllJobsCompleted"):
        self.jobset = objects.ended(word, reason)

    def newest(self):
        return list(self.pods)[-1]

    def _state(self, uid, state, restarts=0, last=None):
        self.pods[uid]["status"]["containerStatuses"] = [objects.status(restarts=restarts, state=state, last=last)]

    # ---- what a client sees

    def request(self, method, path, *, query=(), **_):
        self.clock.seconds += 0.01
        self.clock.run()
        self._answers()
        assert method == "GET"
        if path.endswith("/jobsets/train"):
            if self.jobset is None:
                raise status_error(404, "NotFound", 'jobsets "train" not found', name="train")
            return Reply(200, self.jobset)
        if path.endswith("/pods"):
            return Reply(200, object_list(*self.pods.values()))
        if path.endswith("/events"):
            return Reply(200, object_list(*self.events))
        if "/jobs/" in path:
            return Reply(200, thing(path.rpartition("/")[2]))
        if "kueue.x-k8s.io" in path:
            return Reply(200, self._queue(path))
        raise AssertionError(path)

    def _queue(self, path):
        if self.workloads is None:
            raise status_error(404, "NotFound", "the server could not find the requested resource")
        return summary(*self.places) if path.endswith("pendingworkloads") else object_list(*self.workloads)

    def _answers(self):
        if self.down:
            raise NetworkError("Cannot reach it", why="Connection refused")

    @contextmanager
    def stream(self, path, *, query=(), accept="", idle_timeout=300.0):
        query = dict(query)
        self.clock.seconds += 0.01
        self.clock.run()
        self._answers()
        self.opened.append(query)
        name = path.split("/")[-2]
        uid = next((uid for uid, pod in self.pods.items() if pod["metadata"]["name"] == name), None)
        if uid is None:
            raise status_error(404, "NotFound", f'pods "{name}" not found', name=name)
        if self.random.random() < self.faults.refuse:
            raise status_error(503, "ServiceUnavailable", "No agent available")
        logs = self.logs[uid]
        if query.get("previous"):
            if len(logs) < 2 or self.forgets:
                raise status_error(400, "BadRequest", "previous terminated container not found")
            log = logs[-2]
        else:
            log = logs[-1]
        yield LogStream(self, uid, log, query, idle_timeout)


class LogStream:
    def __init__(self, kubelet, uid, log, query, idle_timeout):
        self.kubelet, self.uid, self.log, self.query = kubelet, uid, log, query
        self.idle_timeout = idle_timeout
        self.buffer = b""
        since = query.get("sinceTime")
        self.position = log.kept_from
        if "tailLines" in query:
            self.position = max(self.position, len(log.lines) - int(query["tailLines"]))
        self.since = since or ""
        self.follow = query.get("follow") == "true"

    def read(self, size=65536):
        kubelet, faults = self.kubelet, self.kubelet.faults
        if kubelet.words:
            words, kubelet.words, self.follow = kubelet.words, b"", False
            self.position = len(self.log.lines)
            return words
        chance = kubelet.random.random()
        if chance < faults.cut:
            if kubelet.random.random() < 0.5:
                raise NetworkError("cut")
            half = self._some()  # the last bytes before the cut still arrive
            self.read = self._cut
            return half or self._cut()
        if chance < faults.cut + faults.clean_end and self.follow:
            return b""
        if chance < faults.cut + faults.clean_end + faults.stall:
            kubelet.clock.sleep(self.idle_timeout)
            raise NetworkError("stalled")
        waited = 0.0
        while not (data := self._some()):
            if not self.follow or self.log.ended or self.uid not in kubelet.pods:
                return b""
            if kubelet.down:
                raise NetworkError("cut")
            step = kubelet.clock.until_next()
            if step is None or waited + step > self.idle_timeout:
                kubelet.clock.sleep(self.idle_timeout - waited)
                raise NetworkError("stalled")
            waited += step
            kubelet.clock.sleep(step)
        return data

    def _cut(self, size=0):
        raise NetworkError("cut")

    def _some(self):
        while len(self.buffer) < self.kubelet.faults.piece and self.position < len(self.log.lines):
            seconds, line = self.log.lines[self.position]
            self.position += 1
            if stamp(seconds, 0) >= self.since:
                self.buffer += stamp(seconds).encode() + b" " + line + b"\n"
        count = self.kubelet.random.randint(1, self.kubelet.faults.piece)
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data


class WorldClock(FakeClock):
    """Runs what is due whenever time passes."""

    def __init__(self, kubelet):
        super().__init__()
        self.kubelet = kubelet

    def sleep(self, seconds):
        target = self.seconds + seconds
        while self.kubelet.agenda and self.kubelet.agenda[0][0] <= target:
            self.seconds = max(self.seconds, self.kubelet.agenda[0][0])
            self.run()
        super().sleep(max(0.0, target - self.seconds))

    def run(self):
        while self.kubelet.agenda and self.kubelet.agenda[0][0] <= self.seconds:
            _, _, do, args = heapq.heappop(self.kubelet.agenda)
            do(*args)

    def until_next(self):
        """Seconds until something happens; None where nothing will."""
        return max(0.0, self.kubelet.agenda[0][0] - self.seconds) + 0.0001 if self.kubelet.agenda else None


def stamp(seconds, digits=9):
    """RFC 3339 with nine digits of a second as a kubelet writes it, or with none."""
    moment = START + timedelta(seconds=seconds)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{moment.microsecond:06d}000Z" if digits else f"{text}Z"
