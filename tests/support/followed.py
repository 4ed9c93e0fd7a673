"""A log follower over a fake kubelet, and what happens to the pod that it reads."""

from fakes.kubelet import Faults
from fakes.objects import condition, jobset, pod, status, waiting

from xlaunch.cluster.follower import Follower, Wanted
from xlaunch.core.lognews import CloudLogs
from xlaunch.core.narration import Narration
from xlaunch.core.workload import describe

POD = "train-pathways-head-0-0-aaaaa"
FAULTS = Faults(cut=0.15, clean_end=0.05, stall=0.02, refuse=0.1, piece=1500)
PENDING = pod("pathways-head", phase="Pending", statuses=[status(state=waiting("ContainerCreating"))])


class Run:
    """One follower over a fake kubelet, with what it printed and said."""

    def __init__(self, kubelet, *, interactive=True, cloud=True, timeout=None, **wanted):
        self.said = []
        self.follower = Follower(
            kubelet,
            describe(kubelet.jobset),
            Wanted(**wanted),
            clock=kubelet.clock,
            narration=Narration(self.said.append, kubelet.clock.monotonic, interactive=interactive),
            cloud=CloudLogs("default", available=cloud),
            timeout=timeout,
        )

    def all(self):
        return b"".join(self.follower)

    @property
    def end(self):
        return self.follower.end

    def losses(self):
        """What was said about lost lines."""
        return [line for line in self.said if line.startswith("Gap") or "cannot be read here" in line]


def written(kubelet):
    return b"".join(line + b"\n" for line in kubelet.everything)


def life(kubelet, *moments, end=None):
    """The head pod starts, writes a line at each moment, and completes."""
    kubelet.start_pod("aaaaa")
    for moment in moments:
        kubelet.at(moment, kubelet.write, b"line at %g" % moment)
    last = end or (max(moments, default=0) + 1)
    kubelet.at(last, kubelet.end)
    kubelet.at(last + 1, kubelet.finish)
    return kubelet


def restart(kubelet, at, *, attempt=1, suffix="bbbbb", code=1):
    """JobSet restarts: the old head pod goes, nothing for a while, then a new one."""
    kubelet.at(at, kubelet.end, code)
    kubelet.at(
        at + 1,
        lambda: setattr(
            kubelet,
            "jobset",
            jobset(ready=(0, 0), restarts=attempt, conditions=[condition("RestartingJobSet", message="applying")]),
        ),
    )
    kubelet.at(at + 2, kubelet.remove_pod)
    kubelet.at(at + 30, kubelet.start_pod, suffix, attempt)
    kubelet.at(at + 31, lambda: setattr(kubelet, "jobset", jobset(restarts=attempt)))
