"""CrashLoopBackOff: how long a container that ended waits before it is started again."""

from __future__ import annotations

from dataclasses import dataclass

# kubelet 1.35, pkg/kubelet/kubelet.go: initialNodeBackOff..., MaxCrashLoopBackOff; seconds
FIRST = 10.0
LONGEST = 300.0


@dataclass
class CrashLoop:
    """The back-off of one container, in seconds of the cluster's monotonic time.

    As client-go's `flowcontrol.Backoff` under the kubelet's `doBackOff` (pkg/kubelet/kuberuntime): the first restart is
    at once, then 10 s, 20 s ... up to 300 s after the end; a container that ran for more than 600 s starts afresh.
    """

    delay: float = 0.0
    started: float = 0.0

    def remaining(self, finished: float, now: float) -> float:
        """Seconds still to wait before a container that ended at `finished` may start; 0 when it may."""
        if self._expired(finished):
            return 0.0
        return max(0.0, finished + self.delay - now)

    def restarted(self, finished: float, now: float) -> None:
        """The container is started again at `now` after an end at `finished`: the next wait is longer."""
        grown = FIRST if self.delay == 0.0 or self._expired(finished) else min(self.delay * 2, LONGEST)
        self.delay, self.started = grown, now

    def _expired(self, finished: float) -> bool:
        return finished - self.started > 2 * LONGEST
