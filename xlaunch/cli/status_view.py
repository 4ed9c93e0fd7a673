"""The ledger for people: tables that fit 80 columns, and one line for each change where there is no terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil

from xlaunch.cli.output import Table
from xlaunch.core.ledger import Ledger, Slice
from xlaunch.core.pods import Container, Exit
from xlaunch.core.timestamps import words
from xlaunch.core.workload import Phase

# More slices than this are shown with equal neighbours in one row
FEW_SLICES = 16
STALE = (
    "Pods may not be listed: counts come from the Jobs, which on Kubernetes 1.32 to 1.35.6 are stale while a slice is "
    "partly lost (kubernetes#139428)"
)


def parts(ledger: Ledger, forbidden: Sequence[str] = ()) -> list[str | Table]:
    """All there is to see, from the phase down to what to do next."""
    found: list[str | Table] = [headline(ledger)]
    workload = ledger.workload
    if workload.message:
        found.append(f"{workload.reason}: {workload.message}")
    if ledger.head:
        node = f" on {ledger.head.node}" if ledger.head.node else ""
        rows = [_container_row(each) for each in ledger.head.containers]
        found += ["", f"Head {ledger.head.pod}{node}", Table(("CONTAINER", "STATE", "RESTARTS", "LAST EXIT"), rows)]
    elif workload.head and "pods" not in forbidden:
        found += ["", "Head: there is no pod"]
    if ledger.slices and not (workload.phase.ended and not any(map(_counted, ledger.slices))):
        found += ["", slice_table(ledger)]
    if "pods" in forbidden:
        found += ["", STALE]
    if "jobs" in forbidden:
        found += ["", "Jobs may not be listed: losses, budgets and waits are not known"]
    for alarm in ledger.alarms:
        found += ["", f"! {alarm.message}", f"  Next: {alarm.next}"]
    return found


def headline(ledger: Ledger) -> str:
    """Name, phase, size and the restarts of the whole in a line."""
    workload = ledger.workload
    queue = f" in queue {workload.queue}" if workload.phase is Phase.QUEUED else ""
    hosts = "+".join(sorted({str(role.hosts) for role in workload.workers}))
    slices = "1 slice" if workload.slices == 1 else f"{workload.slices} slices"
    size = f"{slices} x {hosts} hosts" if workload.workers else "no slices"
    restarts = f"JobSet restarts {workload.restarts} of {workload.max_restarts}"
    return f"{workload.name}   {workload.phase}{queue}   {size}   {restarts}"


def slice_table(ledger: Ledger) -> Table:
    """A row for each slice; of many slices, neighbours that are alike share one."""
    several = len(ledger.workload.workers) > 1
    recreated = any(each.job_restarts for each in ledger.slices)
    columns = ["SLICE", "READY", "LOST", "IN PLACE", *(["JOB RESTARTS"] if recreated else [])]
    rows = []
    for same in _groups(ledger.slices):
        first, last = same[0], same[-1]
        label = f"{first.index}" if len(same) == 1 else f"{first.index}-{last.index}"
        cells = [
            f"{first.role}/{label}" if several else label,
            f"{_known(first.ready)}/{first.hosts}",
            _known(first.lost),
        ]
        cells += [_known(first.in_place_restarts), *([str(first.job_restarts)] if recreated else [])]
        rows.append([*cells, _known(first.budget_left), wait_cell(first)])
    return Table([*columns, "BUDGET LEFT", "NEXT WAIT, AT MOST"], rows)


def wait_cell(each: Slice) -> str:
    """The wait for the missing hosts, marked as running; else that of the next loss."""
    if each.next_replacement_seconds is None:
        return "?"
    wait = words(ceil(each.next_replacement_seconds))
    return f"{wait} ({each.missing} missing)" if each.missing else wait


def change_line(ledger: Ledger) -> str:
    """The state in one line; of the slices only those that are not whole."""
    workload = ledger.workload
    restarts = [f"JobSet {workload.restarts}/{workload.max_restarts}"]
    restarts += [f"{each.name} {each.restarts}" for each in (ledger.head.containers if ledger.head else ())]
    if workload.phase.ended:
        return f"{workload.phase}; restarts: {', '.join(restarts)}"
    whole = sum(each.whole for each in ledger.slices)
    partial = [
        f"slice {each.index}: {_known(each.ready)}/{each.hosts}, {_known(each.lost)} lost, next wait {wait_cell(each)}"
        for each in ledger.slices
        if not each.whole
    ]
    slices = [f"{whole} of {len(ledger.slices)} slices ready", *partial]
    alarms = [f"! {alarm.message}" for alarm in ledger.alarms]
    return "; ".join([str(workload.phase), f"restarts: {', '.join(restarts)}", *slices, *alarms])


def _groups(slices: Sequence[Slice]) -> Iterator[list[Slice]]:
    if len(slices) <= FEW_SLICES:
        return ([each] for each in slices)
    return (list(same) for _, same in groupby(slices, key=_look))


def _look(each: Slice) -> tuple[object, ...]:
    counts = (each.hosts, each.ready, each.missing, each.lost, each.in_place_restarts, each.job_restarts)
    return (each.role, *counts, each.budget_left, each.next_replacement_seconds)


def _counted(each: Slice) -> bool:
    """Whether there is anything to tell of it: after the end its Job is gone as a rule."""
    return bool(each.ready or each.lost or each.in_place_restarts or each.job_restarts)


def _container_row(container: Container) -> Sequence[str]:
    state = container.reason or container.state
    if container.exit:
        state = f"{container.reason or 'Ended'} {container.exit.code}"
    return (container.name, state, str(container.restarts), _short(container.last_exit))


def _short(last: Exit | None) -> str:
    if last is None:
        return ""
    word = last.reason if last.reason not in ("", "Error", "Completed") else last.signal
    return f"{last.code} ({word})" if word else str(last.code)


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)
