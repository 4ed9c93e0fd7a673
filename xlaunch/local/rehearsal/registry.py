"""What the resource manager knows: which workers live, and which slices are whole. Pure; time is an argument."""

from __future__ import annotations

from dataclasses import dataclass

# Google's blog: an idle slice is reported lost after about 10 s without heartbeats
TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Worker:
    """One worker process: its slice, its host index in it, how many hosts the slice has, and where it listens.

    `incarnation` tells a process from the one that replaces it in the same place.
    """

    slice: int
    host: int
    hosts: int
    address: str
    incarnation: str


def chips_of(instance_type: str) -> int:
    """Chips of one slice: the product of the topology in `tpuv5e:4x4`. Raises ValueError with a sentence."""
    _, colon, topology = instance_type.partition(":")
    chips = 1
    for side in topology.split("x"):
        if not (colon and side.isdigit() and int(side)):
            raise ValueError(f"--instance_type={instance_type} is not <type>:<topology>, such as tpuv5e:4x4")
        chips *= int(side)
    return chips


class Registry:
    """The workers by place (slice, host), each with the time of its last heartbeat. Times are in seconds."""

    def __init__(self, slices: int, timeout: float = TIMEOUT_SECONDS) -> None:
        self.slices = slices
        self.timeout = timeout
        self._workers: dict[tuple[int, int], Worker] = {}
        self._seen: dict[str, float] = {}

    def register(self, worker: Worker, now: float) -> None:
        """Takes a worker in, in the place of any earlier one. Raises ValueError for a slice that does not exist."""
        if not 0 <= worker.slice < self.slices:
            raise ValueError(f"slice {worker.slice} does not exist: --instance_count={self.slices}")
        before = self._workers.get((worker.slice, worker.host))
        if before:
            self._seen.pop(before.incarnation, None)
        self._workers[(worker.slice, worker.host)] = worker
        self._seen[worker.incarnation] = now

    def heartbeat(self, incarnation: str, now: float) -> bool:
        """Notes a sign of life; False where the worker is not, or no longer, registered and must register again."""
        if incarnation not in self._seen:
            return False
        self._seen[incarnation] = now
        return True

    def expire(self, now: float) -> list[Worker]:
        """Removes and returns the workers whose last heartbeat is older than the timeout."""
        gone = [worker for worker in self.workers() if now - self._seen[worker.incarnation] > self.timeout]
        for worker in gone:
            del self._workers[(worker.slice, worker.host)]
            del self._seen[worker.incarnation]
        return gone

    def workers(self) -> list[Worker]:
        """All that live, by slice and host."""
        return [self._workers[place] for place in sorted(self._workers)]

    def whole(self) -> list[int]:
        """The slices all of whose hosts live."""
        return whole_slices(self.workers())


def whole_slices(workers: list[Worker]) -> list[int]:
    """The slices of which every host is among `workers`."""
    hosts: dict[int, set[int]] = {}
    wanted: dict[int, int] = {}
    for worker in workers:
        hosts.setdefault(worker.slice, set()).add(worker.host)
        wanted[worker.slice] = worker.hosts
    return sorted(index for index, found in hosts.items() if found >= set(range(wanted[index])))
