"""What a log follower says on stderr: which log it reads, what restarted, what is lost and where that may still be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from xlaunch.core.counts import ordinal
from xlaunch.core.follow import Cursor, Reader, Target
from xlaunch.core.narration import Narration
from xlaunch.core.pods import Container
from xlaunch.core.timestamps import parse, words

# A log whose first line is that many seconds younger than its container may lack its beginning
LATE_SECONDS = 30.0


@dataclass(frozen=True)
class CloudLogs:
    """Where Cloud Logging would have the lines of a namespace; `available` is False for a cluster that has none."""

    namespace: str
    cluster: str = ""
    available: bool = True

    def query(self, pod: str, container: str) -> str:
        """The command that asks for a container's lines, to end a sentence with; a `pod` with a final "-" is a prefix.

        Resource type and labels are those of cloud.google.com/logging/docs/api/v2/resource-list (k8s_container).
        """
        if not self.available:
            return ""
        operator = ":" if pod.endswith("-") else "="
        labels = {"namespace_name": self.namespace, "container_name": container, "cluster_name": self.cluster}
        parts = ['resource.type="k8s_container"', f'resource.labels.pod_name{operator}"{pod}"']
        parts += [f'resource.labels.{label}="{value}"' for label, value in labels.items() if value]
        return f". On GKE, ask Cloud Logging: gcloud logging read '{' AND '.join(parts)}' --order=asc"


class LogNews:
    """The sentences of one follower; the names of all its pods begin with `pod_prefix`."""

    def __init__(self, narration: Narration, cloud: CloudLogs, pod_prefix: str) -> None:
        self._say = narration.say
        self._once = narration.once
        self._cloud = cloud
        self._pod_prefix = pod_prefix

    def begun(self, target: Target) -> None:
        """The first log is being read."""
        self._say(f"Following {target.container} in pod {target.pod}")

    def before(self, target: Target, attempt: int) -> None:
        """What was written before the first log, whose beginning was asked for; `attempt`: restarts before its pod."""
        if attempt:
            where = self._cloud.query(self._pod_prefix, target.container)
            self._say(
                f"This is the workload's {ordinal(attempt)} restart: the logs of the pods before cannot be read here"
                f"{where}"
            )
        if target.restarts:
            before = f"the log before its {ordinal(target.restarts)} restart"
            self._say(f"{target.container} has restarted in this pod: --previous prints {before}")

    def read(self, target: Target, reader: Reader) -> None:
        """What the reader met: a gap, the kubelet's own words in place of a log."""
        if reader.gap:
            reader.gap = False
            why = "they were not in what the kubelet still serves"
            self._say(f"Gap: lines of {target.container} may be missing here; {why}{self._query(target)}")
        for text in reader.foreign:
            self._once(f"The kubelet says: {text.decode(errors='replace').strip()}")
        reader.foreign.clear()

    def beginning(self, target: Target, stamp: bytes, started: str, opened: datetime) -> None:
        """The first line that was there when the log was `opened`, if it is much younger than the container."""
        first, begun = parse(stamp.decode()), parse(started)
        if first and begun and first < opened and (first - begun).total_seconds() >= LATE_SECONDS:
            self._once(
                f"The log begins at {stamp.decode()}, {words(first - begun)} after {target.container} started; a "
                "kubelet keeps about the newest 10 MiB, and if there was more, it cannot be read here"
                f"{self._query(target)}"
            )

    def moved(
        self, cursor: Cursor, target: Target, status: Container | None, jobset_restarts: int, why: Sequence[str] = ()
    ) -> None:
        """Another instance is read from now on; `why`: the reasons for which its pod was replaced, as far as known."""
        before = cursor.target
        if before is None:
            return
        if before.uid != target.uid:
            self._unfinished(cursor)
            reasons = f": {'; '.join(why)}" if why else ""
            self._say(f"Pod {before.pod} is replaced by {target.pod} (JobSet restarts: {jobset_restarts}){reasons}")
        else:
            self._between(cursor, target)
            here = status is not None and status.restarts == target.restarts
            ended = f", after {status.last_exit}" if status and here and status.last_exit else ""
            self._say(f"{target.container} has restarted in pod {target.pod} (restart {target.restarts}{ended})")

    def refused(self, target: Target, why: str) -> None:
        """The rest of the instance before the present one cannot be had."""
        self._say(f"Gap: the end of the log before the restart cannot be read: {why}{self._query(target)}")

    def unreadable(self, target: Target, why: str) -> None:
        """Several attempts have failed."""
        self._once(f"The log of pod {target.pod} cannot be read: {why}; trying again")

    def left(self, cursor: Cursor, container: str) -> None:
        """The workload has ended, and with it the log of `container`."""
        if cursor.target is None:
            self._say(f"No pod is left that has the log{self._cloud.query(self._pod_prefix, container)}")
        else:
            self._unfinished(cursor)

    def _unfinished(self, cursor: Cursor) -> None:
        target = cursor.target
        if target is None or (cursor.drained and not cursor.due):
            return
        lines = f"if last lines of {target.container} are missing, they cannot be read here"
        if cursor.drained:
            lines = f"if {target.container} was started once more there, its log cannot be read here"
        self._say(f"Pod {target.pod} is gone; {lines}{self._query(target)}")

    def _between(self, cursor: Cursor, target: Target) -> None:
        """A kubelet keeps one dead instance; those before it are lost, and the end of the one being read with them."""
        assert cursor.target is not None
        if target.restarts - cursor.target.restarts > 1 or not cursor.drained:
            self._say(
                f"Gap: {target.container} has ended several times meanwhile, and kubelets keep the last dead instance "
                f"only{self._query(target)}"
            )

    def _query(self, target: Target) -> str:
        return self._cloud.query(target.pod, target.container)
