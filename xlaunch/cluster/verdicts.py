"""What an API server said to a plan: what it accepts, refuses and warns of, and what it could not be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from xlaunch.core.errors import RefusedError
from xlaunch.core.plan import Plan
from xlaunch.core.runs import runs


@dataclass(frozen=True)
class Refusal:
    """What the server said about one object, and what to do where that is known."""

    kind: str
    name: str
    reason: str
    message: str
    next: str = ""

    @property
    def label(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.name}"

    def said(self) -> tuple[str, str, str, str]:
        """What is the same for others of its role that are refused for the same reason."""
        return self.kind, self.name.rstrip("0123456789"), self.reason, self.message.replace(self.name, "")


def summary(refusals: Iterable[Refusal]) -> dict[str, Refusal]:
    """The first of those that follow one another and say the same, by the labels of all of them."""
    told = {}
    for _, alike in groupby(refusals, key=Refusal.said):
        first, *others = alike
        told[", ".join(runs(each.label for each in (first, *others)))] = first
    return told


class PlanRefusedError(RefusedError):
    """The server refuses objects of a plan (exit 4); `-o json` prints all of them as `refusals`."""

    def __init__(self, plan: Plan, refusals: list[Refusal]) -> None:
        told = summary(refusals)
        (what, first), *others = told.items()
        if others:
            message = f"The API server refuses {len(refusals)} objects of {plan.name}"
            why, named = ", ".join(told), "they name"
        else:
            message, why, named = f"The API server refuses {what}", first.message, "it names"
        steps = [each.next for each in refusals if each.next][:1]
        if not all(each.next for each in refusals):
            steps.append(f"Correct what {'the others name' if steps else named}; --dry-run shows the manifest")
        super().__init__(message, why=why, next=". ".join(steps), reason=first.reason)
        keys = ("kind", "name", "reason", "message")
        self.more = {"refusals": [{key: getattr(each, key) for key in keys} for each in refusals]}


@dataclass
class Report:
    """What the server said: `stored` is the JobSet as it would be, `existing` the one that has the name already.

    `warnings` are those of the server with the objects that they are about, `left_out` is what could not be asked, and
    why.
    """

    existing: Mapping[str, Any] | None
    stored: Mapping[str, Any] | None = None
    accepted: list[str] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, list[str]] = field(default_factory=dict)
