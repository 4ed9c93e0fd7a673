"""Which workloads a user means: by name, status, queue and owner; xpk's filters among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from xlaunch.core.errors import UsageError
from xlaunch.core.workload import Phase, Workload

ENDED = frozenset({Phase.COMPLETED, Phase.FAILED})
WAITING = frozenset({Phase.PENDING, Phase.QUEUED, Phase.SUSPENDED})
# xpk 1.16 parser/workload.py --filter-by-status; its words part all workloads into ended, waiting and the rest.
# PENDING, STARTING and so on, the phases' own names, mean that phase alone
GROUPS = {
    "EVERYTHING": frozenset(Phase),
    "FINISHED": ENDED,
    "RUNNING": frozenset(Phase) - ENDED - WAITING,
    "QUEUED": WAITING,
    "SUCCESSFUL": frozenset({Phase.COMPLETED}),
}
WORDS = (*GROUPS, *(phase.upper() for phase in Phase if phase.upper() not in GROUPS))


@dataclass(frozen=True)
class Selection:
    """What was asked for. `names` are whole names or patterns, any of them; the rest are whole words or ""."""

    names: tuple[str, ...] = ()
    phases: frozenset[Phase] = GROUPS["EVERYTHING"]
    queue: str = ""
    owner: str = ""

    def of(self, workloads: Iterable[Workload]) -> list[Workload]:
        """Those that are meant, in the order given."""
        return [workload for workload in workloads if self.means(workload)]

    def means(self, workload: Workload) -> bool:
        """Whether this one is meant."""
        return (
            (not self.names or any(matches(workload.name, name) for name in self.names))
            and workload.phase in self.phases
            and (not self.queue or matches(workload.queue, self.queue))
            and (not self.owner or matches(workload.owner, self.owner))
        )

    def unmatched(self, workloads: Sequence[Workload]) -> list[str]:
        """The names that are no patterns and that no workload has."""
        there = {workload.name for workload in workloads}
        return [name for name in self.names if not is_pattern(name) and name not in there]


def is_pattern(text: str) -> bool:
    """Whether a name has a wildcard: `*`, `?` or `[…]`."""
    return any(character in text for character in "*?[")


def matches(name: str, wanted: str) -> bool:
    """By the shell's patterns where there is a wildcard, else the whole name: `train` never means `pretrain`."""
    return fnmatchcase(name, wanted) if is_pattern(wanted) else name == wanted


def phases_of(flag: str, text: str) -> frozenset[Phase]:
    """The phases that a comma-separated list of status words means; "" means all. Raises UsageError."""
    found: frozenset[Phase] = frozenset()
    for word in filter(None, (word.strip() for word in text.split(","))):
        if word.upper() not in WORDS:
            raise UsageError(f"{flag} {word} is no status", why=f"There are {', '.join(WORDS)}")
        found |= GROUPS.get(word.upper(), frozenset(phase for phase in Phase if phase.upper() == word.upper()))
    return found or GROUPS["EVERYTHING"]
