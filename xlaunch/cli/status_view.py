"""The ledger for people: tables that fit 80 columns, and one line for each change where there is no terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil

from xlaunch.cli.output import Table
from xlaunch.core.counts import counted
from xlaunch.core.ending import messages
from xlaunch.core.ledger import Ledger, Slice
from xlaunch.core.losses import Loss, loss_words
from xlaunch.core.pods import Container, Exit
from xlaunch.core.queueing import evictions_words
from xlaunch.core.recreation import used_words
from xlaunch.core.timestamps import stamp, words
from xlaunch.core.workload import Phase

# More slices than this are shown with equal neighbours in one row, and in a line of changes counted
FEW_SLICES = 16
# More reasons to wait, and more lost hosts, than this are counted
FEW_WAITS = 4
STALE = (
    "Pods may not be listed: counts come from the Jobs, which on Kubernetes 1.32 to 1.35.6 are stale while a slice is "
    "partly lost (kubernetes#139428)"
)


def parts(ledger: Ledger, forbidden: Sequence[str] = ()) -> list[str | Table]:
    """All there is to see, from the phase down to what to do next."""
    found: list[str | Table] = [headline(ledger)]
    workload = ledger.workload
    if workload.queueing and workload.queueing.evictions:
        found.append(f"Evicted by the queue: {evictions_words(workload.queueing.evictions)}; these are no restarts")
    if workload.queueing and workload.phase in (Phase.QUEUED, Phase.SUSPENDED):
        found.append(f"Waiting: {ledger.waiting}")
    elif workload.message:
        found.append(f"{workload.reason}: {workload.message}")
    if ledger.head:
        node = f" on {ledger.head.node}" if ledger.head.node else ""
        rows = [_container_row(each, workload.phase) for each in ledger.head.containers]
        found += ["", f"Head {ledger.head.pod}{node}", Table(("CONTAINER", "STATE", "RESTARTS", "LAST EXIT"), rows)]
        found += messages(ledger.head.containers)
    elif workload.head and "pods" not in forbidden:
        awaited = workload.phase in (Phase.PENDING, Phase.STARTING, Phase.RUNNING) and ledger.waiting
        found += ["", f"Head: {awaited or 'there is no pod'}"]
    if ledger.slices and not (workload.phase.ended and not any(map(_counted, ledger.slices))):
        found += ["", slice_table(ledger)]
    for lines in (_lost(ledger), _waits(ledger)):
        found += ["", *lines] if lines else []
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
    hosts = sorted({role.hosts for role in workload.workers})
    each = counted(hosts[0], "host") if len(hosts) == 1 else f"{'+'.join(map(str, hosts))} hosts"
    size = f"{counted(workload.slices, 'slice')} x {each}" if workload.workers else "no slices"
    restarts = f"JobSet restarts {workload.restarts}{used_words(workload)}"
    return f"{workload.name}   {workload.phase}{queue}   {size}   {restarts}"


def slice_table(ledger: Ledger) -> Table:
    """A row for each slice; of many slices, neighbours that are alike share one."""
    several = len(ledger.workload.workers) > 1
    recreated = any(each.job_restarts for each in ledger.slices)
    columns = ["SLICE", "READY", "LOST", "IN PLACE", *(["RESTARTS"] if recreated else [])]
    rows = []
    for same in _groups(ledger.slices):
        first, last = same[0], same[-1]
        label = f"{first.index}" if len(same) == 1 else f"{first.index}-{last.index}"
        name = f"{first.role}/{label}" if several else label
        rows.append([name, *(_ended_cells if ledger.workload.phase.ended else _cells)(first, recreated=recreated)])
    return Table([*columns, "BUDGET LEFT", "NEXT WAIT, AT MOST"], rows)


def wait_cell(each: Slice) -> str:
    """The wait for the missing hosts, marked as running; else that of the next loss."""
    if each.succeeded == each.hosts:
        return "never replaced"
    wait = "?" if each.next_replacement_seconds is None else words(ceil(each.next_replacement_seconds))
    if each.missing:
        return f"{wait} ({each.missing} missing)"
    return "the Job fails" if each.next_replacement_seconds is None and each.budget_left == 0 else wait


def change_line(ledger: Ledger) -> str:
    """The state in one line; of the slices only the first that are not whole, or have had restarts in place."""
    workload = ledger.workload
    used = used_words(workload) if workload.job_restarts else f"/{workload.max_restarts}"
    restarts = [f"JobSet {workload.restarts}{used}"]
    restarts += [f"{each.name} {each.restarts}" for each in (ledger.head.containers if ledger.head else ())]
    if workload.phase.ended:
        return f"{workload.phase}; restarts: {', '.join(restarts)}"
    whole = sum(each.whole for each in ledger.slices)
    hurt = [each for each in ledger.slices if not each.whole or each.in_place_restarts]
    more = [f"and {counted(len(hurt) - FEW_SLICES, 'slice')} more"] if len(hurt) > FEW_SLICES else []
    slices = [f"{whole} of {len(ledger.slices)} slices ready", *map(_slice_words, hurt[:FEW_SLICES]), *more]
    waiting = [f"waiting: {ledger.waiting}"] if ledger.waiting else []
    alarms = [f"! {alarm.message}" for alarm in ledger.alarms]
    return "; ".join([str(workload.phase), f"restarts: {', '.join(restarts)}", *slices, *waiting, *alarms])


def _lost(ledger: Ledger) -> list[str]:
    """The hosts that are lost, since when and why."""
    told = [_loss_line(each, loss) for each in ledger.slices for loss in each.losses]
    more = [f"and {counted(len(told) - FEW_WAITS, 'host')} more"] if len(told) > FEW_WAITS else []
    return [*told[:FEW_WAITS], *more]


def _loss_line(each: Slice, loss: Loss) -> str:
    at = f" at {stamp(loss.since)}" if loss.since else ""
    state = " (replaced, and still going)" if loss.replaced else ""
    return f"Lost{at} from slice {each.index}: {loss_words(loss)}{state}"


def _waits(ledger: Ledger) -> list[str]:
    """What keeps the head, and the first hosts of the slices, from running; else from being created."""
    told = [each.waiting for each in (ledger.head, *ledger.slices) if each and each.waiting]
    if ledger.head and not told and ledger.waiting:
        told = [ledger.waiting]
    more = [f"and {counted(len(told) - FEW_WAITS, 'slice')} more"] if len(told) > FEW_WAITS else []
    return [*(f"Waiting: {reason}" for reason in told[:FEW_WAITS]), *more]


def _cells(each: Slice, *, recreated: bool) -> list[str]:
    job_restarts = [str(each.job_restarts)] if recreated else []
    counts = [f"{_known(each.ready)}/{each.hosts}", _known(each.lost), _known(each.in_place_restarts), *job_restarts]
    return [*counts, _known(each.budget_left), wait_cell(each)]


def _ended_cells(each: Slice, *, recreated: bool) -> list[str]:
    """After the end nothing is ready any more as a rule, and nothing is replaced."""
    cells = _cells(each, recreated=recreated)
    ready = cells[0] if each.ready else "-"
    return [ready, *(cells[1:-2] if _counted(each) else ["-"] * len(cells[1:-2])), "-", "-"]


def _slice_words(each: Slice) -> str:
    counts = [f"{_known(each.ready)}/{each.hosts}", f"{_known(each.lost)} lost"]
    counts += [f"{each.in_place_restarts} in place"] if each.in_place_restarts else []
    counts += [f"next wait {wait_cell(each)}", *(loss_words(loss) for loss in each.losses[:1] if loss.why)]
    return f"slice {each.index}: {', '.join(counts)}"


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


def _container_row(container: Container, phase: Phase) -> Sequence[str]:
    state = container.reason or container.state
    if container.exit and container.sidecar and phase is Phase.COMPLETED:
        state = "stopped"  # by the kubelet, once the main container had ended: its exit code means nothing
    elif container.exit:
        state = f"{container.reason or 'Ended'} {container.exit.code}"
    return (container.name, state, str(container.restarts), _short(container.last_exit))


def _short(last: Exit | None) -> str:
    if last is None:
        return ""
    word = last.reason if last.reason not in ("", "Error", "Completed") else last.signal
    return f"{last.code} ({word})" if word else str(last.code)


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)
