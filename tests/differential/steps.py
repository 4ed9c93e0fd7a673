"""Sequences of what is done to a JobSet, each made from a seed.

Faults are chosen so that no Job waits longer than 20 s before it replaces lost pods: at most two losses a Job, or as
many as end it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from differential import shapes
from differential.shapes import NAME, Object

# In each `make test-real`; and in the nightly run only, with those that lose nodes
CI_SEEDS = "5,7,8,10,11,14,15,17,19,22"
# Not those of which half of the faults or less meet anything
NIGHTLY_SEEDS = "100-112,114-119,121-132,134-136,138-158,160-165"
# Those of 1 to 40 that restart a single Job: in the others nobody fails, or the whole is restarted
CI_RESTART_SEEDS, NIGHTLY_RESTART_SEEDS = "4,18,19", "1-3,6,7,11,13-15,17,20,21,23-25,28,29,31,36-38,40"
WORKER = f"{NAME}-worker-0"
PROPAGATIONS = ("Background", "Foreground", "Orphan")
MOST_LOSSES = 2


@dataclass(frozen=True)
class Step:
    """One thing to do. `action` is a method of run.Actor, `job` a Job of the JobSet, `index` one of its pods."""

    action: str
    job: str = ""
    index: int = 0
    value: Any = None

    def __str__(self) -> str:
        """As in the report of a difference."""
        pod = f" {self.job}[{self.index}]" if self.job else ""
        return f"{self.action}{pod}{'' if self.value is None else f' {self.value}'}"


@dataclass(frozen=True)
class Sequence:
    """A JobSet and what happens to it; `name` is a word for it."""

    name: str
    jobset: Object
    steps: tuple[Step, ...]


def sequence(seed: int) -> Sequence:
    """The sequence of a seed; always the same one."""
    random = Random(f"sequence {seed}")
    jobset = shapes.jobset(random)
    return Sequence(f"seed-{seed}", jobset, tuple(_Author(random, jobset).steps()))


def restart_sequence(seed: int) -> Sequence:
    """The sequence of a seed in which single Jobs are restarted."""
    random = Random(f"restart {seed}")
    jobset = shapes.restarting(random)
    return Sequence(f"restart-{seed}", jobset, tuple(_Restarter(random, jobset).steps()))


def seeds(text: str) -> Iterator[int]:
    """The numbers that `7,20-29` means."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def node_sequences() -> list[Sequence]:
    """What becomes of a host that does not answer any more: it comes back, or its Node object is taken away."""
    lose = [Step("create"), Step("settle"), Step("lose_node", WORKER), Step("await_eviction", WORKER), Step("settle")]
    back = [Step("restore_node"), Step("settle")]
    away = [Step("delete_node"), Step("await_collection"), Step("settle")]
    end = [Step("delete_jobset"), Step("settle")]
    return [
        Sequence("node-back", shapes.impatient(), (*lose, *back, *end)),
        Sequence("node-away", shapes.impatient(), (*lose, *away, *end)),
    ]


class _Author:
    """Writes one sequence, counting the losses that it causes."""

    LENGTHS: tuple[int, ...] = (2, 3, 3)

    def __init__(self, random: Random, jobset: Object) -> None:
        self._random = random
        self._jobset = jobset
        self._jobs = {
            f"{NAME}-{each['name']}-{index}": each["template"]["spec"]
            for each in jobset["spec"]["replicatedJobs"]
            for index in range(each["replicas"])
        }
        self._losses: Counter[str] = Counter()

    def steps(self) -> Iterator[Step]:
        """The whole sequence."""
        yield Step("create")
        yield Step("settle")
        if self._jobset["spec"].get("suspend"):
            yield Step("suspend", value=False)
            yield Step("settle")
        for _ in range(self._random.choice(self.LENGTHS)):
            yield from self._random.choice(self._scenes())()
            yield Step("settle")
        yield Step("delete_jobset", value=self._random.choice((None, *PROPAGATIONS)))
        yield Step("settle")

    def _scenes(self) -> list[Callable[[], Iterator[Step]]]:
        often = [self._pod, self._pod, self._signal, self._signal, self._slice]
        return [*often, self._evict, self._pause, self._cordon, self._job, self._budget, self._patches, self._service]

    def _lossy(self, losses: int = 1) -> str:
        """A Job that may lose so many pods more; "" for none."""
        able = []
        for name, spec in self._jobs.items():
            sum_ = self._losses[name] + (spec["parallelism"] if losses == 0 else losses)
            if sum_ <= MOST_LOSSES or sum_ > spec["backoffLimit"]:
                able.append(name)
        if not able:
            return ""
        job = self._random.choice(able)
        self._losses[job] += losses or self._jobs[job]["parallelism"]
        return job

    def _index(self, job: str) -> int:
        return self._random.randrange(self._jobs[job]["parallelism"])

    def _pod(self) -> Iterator[Step]:
        if job := self._lossy():
            yield Step("delete_pod", job, self._index(job), self._random.choice((None, 0, 1)))
            yield from self._glance()

    def _slice(self) -> Iterator[Step]:
        if job := self._lossy(0):
            yield Step("delete_slice", job, value=self._random.choice((None, 0)))
            yield from self._glance()

    def _evict(self) -> Iterator[Step]:
        if job := self._lossy():
            yield Step("evict", job, self._index(job))
            yield from self._glance()

    def _signal(self) -> Iterator[Step]:
        if job := self._lossy():
            name = self._random.choice(("KILL", "USR1", "USR2", "TERM"))
            yield Step("signal", job, self._index(job), name)
            yield from self._glance()

    def _glance(self) -> Iterator[Step]:
        """Sometimes the state during the back-off is compared too."""
        if self._random.random() < 0.5:
            yield Step("glance")

    def _pause(self) -> Iterator[Step]:
        yield Step("suspend", value=True)
        yield Step("settle")
        if self._random.random() < 0.3:
            yield Step("patch_jobset", value={"spec": {"ttlSecondsAfterFinished": 4}})
            yield Step("settle")  # one that has ended is gone then
        yield Step("suspend", value=False)

    def _cordon(self) -> Iterator[Step]:
        yield Step("cordon", value=True)
        yield from self._pod()
        yield Step("settle")
        yield Step("cordon", value=False)

    def _job(self) -> Iterator[Step]:
        job = self._random.choice(sorted(self._jobs))
        yield Step("delete_job", job, value=self._random.choice((None, *PROPAGATIONS)))

    def _budget(self) -> Iterator[Step]:
        job = self._random.choice(sorted(self._jobs))
        limit = self._random.choice((0, 1, 9))
        self._jobs[job] = self._jobs[job] | {"backoffLimit": limit}
        yield Step("patch_job", job, value={"spec": {"backoffLimit": limit}})
        yield from self._signal()

    def _patches(self) -> Iterator[Step]:
        for patch in (
            {"spec": {"failurePolicy": {"maxRestarts": 9}}},
            {"spec": {"replicatedJobs": []}},
            {"metadata": {"labels": {"more": "yes"}}},
        ):
            yield Step("patch_jobset", value=patch)
        yield Step("patch_job", self._random.choice(sorted(self._jobs)), value={"spec": {"completions": 5}})

    def _service(self) -> Iterator[Step]:
        yield Step("delete_service")


class _Restarter(_Author):
    """Writes one of a JobSet that restarts single Jobs: most scenes end one."""

    LENGTHS = (3, 4)

    def _scenes(self) -> list[Callable[[], Iterator[Step]]]:
        often = [self._pod, self._signal, self._signal, self._slice, self._evict]
        return [*often, *often, self._pause, self._cordon, self._job, self._budget]
