"""The rehearsal itself: follows the log of a running workload, loses a worker, and watches the way back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from xlaunch.cluster import jobsets
from xlaunch.cluster.api import ApiError, namespaced
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.follower import Follower, Wanted
from xlaunch.cluster.observe import observe, selector
from xlaunch.cluster.watch import list_all
from xlaunch.core import pods as podlib
from xlaunch.core.clock import Clock
from xlaunch.core.ledger import Ledger, ledger
from xlaunch.core.loglines import Event, Kind, Line, parse, split
from xlaunch.core.lognews import CloudLogs
from xlaunch.core.narration import Narration
from xlaunch.core.recovery import Recoveries, Recovery, joined
from xlaunch.core.workload import describe
from xlaunch.demo.blog import CHECKPOINT_PERIOD, LOST_HOST, LOST_SLICE, STEPS_INTO_PERIOD
from xlaunch.demo.losses import Loss, Losses
from xlaunch.demo.proof import Snapshot, snapshot

# Steps to see after the recovery, so that it is not the first one alone that ends
STEPS_AFTERWARDS = 5
# A run that takes longer than this many seconds of the cluster has gone wrong
PATIENCE = 300.0
REAL_PATIENCE_FLOOR = 60.0


class Stage(Protocol):
    """Where the rehearsal is told as it goes."""

    def say(self, text: str) -> None:
        """A sentence of our own."""
        ...

    def show(self, line: Line, event: Event | None) -> None:
        """A line of the trainer's log, and what it means."""
        ...

    def tell_ledger(self, found: Ledger) -> None:
        """How the slices stand."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What was seen. Times are real; `recovery` is None where no slice was lost, `ended` says why it stopped early."""

    before: Snapshot | None
    after: Snapshot | None
    killed: datetime | None
    recovery: Recovery | None
    losses: tuple[Loss, ...]
    ledger: Ledger | None
    ended: str = ""
    timed_out: bool = False


class Rehearsal:
    """The run of the workload `name`.

    `interactive` leaves the kill to the viewer; `kubectl` is the command line that leads to the cluster.
    """

    def __init__(
        self,
        connection: Connection,
        name: str,
        *,
        clock: Clock,
        stage: Stage,
        time_scale: float,
        interactive: bool,
        kubectl: str,
    ) -> None:
        self._connection = connection
        self._api = connection.api
        self._name = name
        self._clock = clock
        self._stage = stage
        self._interactive = interactive
        self._kubectl = kubectl
        self._timeout = None if interactive else max(PATIENCE * time_scale, REAL_PATIENCE_FLOOR)
        self._recoveries = Recoveries()
        self._survivor: Event | None = None
        self._ended = ""
        self._committed = 0
        self._killed: datetime | None = None
        self._before: Snapshot | None = None
        self._victim = ""  # the pod that was killed, or named to the viewer
        self._losses: Losses
        self._losses_before = 0  # those before it was
        self._other_losses = 0  # those of a recovery that does not count
        self._recovery: Recovery | None = None

    def run(self) -> Outcome:
        """Goes through with it. Raises what the API raises."""
        workload = describe(jobsets.get(self._api, self._name))
        self._losses = Losses(self._api, workload, self._clock)
        follower = Follower(
            self._api,
            workload,
            Wanted(stamps=True),
            clock=self._clock,
            narration=Narration(self._stage.say, self._clock.monotonic, interactive=False),
            cloud=CloudLogs(self._api.namespace, available=False),
            timeout=self._timeout,
        )
        with closing(iter(follower)) as chunks:  # type: ignore[type-var]
            for line in lines(chunks):
                if self._take(line):
                    break
        found = self._ledger()
        end = follower.end
        return Outcome(
            before=self._before,
            after=snapshot(found, self._survivor) if found else None,
            killed=self._killed,
            recovery=self._recovery or self._recoveries.current,
            losses=self._losses.so_far()[self._other_losses :],
            ledger=found,
            ended=end.reason if end else self._ended,
            timed_out=end.timed_out if end else False,
        )

    def _take(self, line: bytes) -> bool:
        """One line of the log; True once all has been seen."""
        event = parse(line)
        self._stage.show(split(line), event)
        if event is None:
            return False
        if event.kind is Kind.SURVIVOR:
            before, self._survivor = self._survivor, event
            if before and before.pid != event.pid:
                self._ended = "the trainer was started anew, in another process"
                return True
        elif event.kind is Kind.COMMIT:
            self._committed = event.step or 0
        completed = self._recoveries.take(event)
        if completed and self._recovery is None:
            if self._other_slice():
                self._victim = ""  # to be asked for anew, by the name that the pod has then
                self._other_losses = len(self._losses.so_far())
            else:
                self._recovery = joined(last_chain(self._recoveries.finished))
        if event.kind is Kind.SLICE_DOWN:
            if pod := self._other_slice():
                self._stage.say(f"{pod} is not of slice {LOST_SLICE}: after this recovery the demo waits for that one")
            found = self._ledger()
            if found:
                self._stage.tell_ledger(found)
        return event.kind is Kind.STEP and self._after_step(event.step or 0)

    def _after_step(self, step: int) -> bool:
        if self._before is None:
            self._before = self._snapshot()
        ripe = self._committed + (0 if self._interactive else STEPS_INTO_PERIOD)
        if not self._victim and self._committed >= CHECKPOINT_PERIOD and step >= ripe:
            self._victim = self._lose_a_worker()
        return self._recovery is not None and step >= (self._recovery.first_step or 0) + STEPS_AFTERWARDS

    def _other_slice(self) -> str:
        """The pod that the viewer lost where none of the slice asked for is lost; "" where that is as it should be."""
        if not (self._interactive and self._victim):
            return ""
        lost = [loss.pod for loss in self._losses.so_far()[self._losses_before :]]
        slice_prefix = self._victim.rsplit("-", 2)[0] + "-"
        return "" if any(pod.startswith(slice_prefix) for pod in lost) else next(iter(lost), "")

    def _lose_a_worker(self) -> str:
        """Kills it, or asks the viewer to, and returns its name; "" where it is just being replaced."""
        pod = self._find_victim()
        if not pod:
            return ""
        self._before = self._snapshot()
        self._losses_before = len(self._losses.so_far())
        delete = f"kubectl delete pod {pod} --grace-period=0 --force"
        if self._interactive:
            self._stage.say(f"Checkpoint {self._committed} is committed. Now lose a worker, in another terminal:")
            self._stage.say(f"{self._kubectl}{delete.removeprefix('kubectl')}")
            return pod
        self._stage.say(delete)
        self._killed = self._clock.now()
        self._api.request("DELETE", namespaced(self._api, "v1", "pods", pod), query={"gracePeriodSeconds": "0"})
        return pod

    def _snapshot(self) -> Snapshot | None:
        found = self._ledger()
        return snapshot(found, self._survivor) if found else None

    def _find_victim(self) -> str:
        """The name of the pod of slice 2, host 0; "" while there is none."""
        found, _ = list_all(
            self._api,
            namespaced(self._api, "v1", "pods"),
            query={"labelSelector": f"{selector(self._name)},{podlib.JOB_INDEX}={LOST_SLICE}"},
        )
        mine = [pod for pod in found if podlib.completion_index(pod) == LOST_HOST and podlib.is_alive(pod)]
        return str(mine[0]["metadata"]["name"]) if mine else ""

    def _ledger(self) -> Ledger | None:
        """The ledger now; None once the workload, or its cluster, is gone."""
        try:
            seen = observe(self._connection, self._name)
        except ApiError:
            return None
        return ledger(seen.jobset, seen.jobs, seen.pods, self._clock.now())


def last_chain(finished: Sequence[Recovery]) -> Sequence[Recovery]:
    """The last recovery with the unfinished ones right before it."""
    begin = len(finished) - 1
    while begin > 0 and not finished[begin - 1].done:
        begin -= 1
    return finished[begin:]


def lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Whole lines out of chunks; the last one may lack its end."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        yield rest
