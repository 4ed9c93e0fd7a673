"""`create-pathways --dry-run=server`: what the API server says to a plan, without submitting it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlaunch.cli.create_place import place, tell_kept
from xlaunch.cli.create_submit import owner_of
from xlaunch.cli.create_terms import Terms
from xlaunch.cli.output import Result
from xlaunch.cli.planner import Planner
from xlaunch.cli.session import Session
from xlaunch.cli.target import Connection, TargetOptions, connect
from xlaunch.cluster.dry_run import DryRun
from xlaunch.cluster.submit import replaces
from xlaunch.cluster.verdicts import PlanRefusedError, Report, summary
from xlaunch.core.plan import HASH_ANNOTATION, Plan, owned
from xlaunch.core.runs import runs
from xlaunch.core.spec import PathwaysSpec
from xlaunch.core.workload import describe

# What every dry run makes up anew, and nobody has asked for
_MADE_UP = ("uid", "creationTimestamp", "generation", "resourceVersion", "managedFields")


def dry_run(session: Session, target: TargetOptions, terms: Terms, spec: PathwaysSpec, planner: Planner) -> Result:
    """Prints the manifest, with -o as the server would store it. Raises PlanRefusedError with all that it refuses."""
    _, plan, server = ask(session, target, terms, spec, planner)
    report = server.report()
    for line in _told(report, plan):
        session.notice(line)
    if report.refusals:
        raise PlanRefusedError(plan, report.refusals)
    return Result("JobSet", _stored(report) or plan.manifest, [plan.text], bare=True)


def ask(
    session: Session, target: TargetOptions, terms: Terms, spec: PathwaysSpec, planner: Planner
) -> tuple[Connection, Plan, DryRun]:
    """The target, the plan for its namespace, and the server to ask about it. No embedded cluster is started."""
    connection = connect(session, target, announce=True)
    placed = place(session, connection.api, spec, planner, timeout=terms.timeout)

    def server_for(plan: Plan) -> DryRun:
        owned_plan = owned(plan, owner_of(session))
        return DryRun(connection.api, owned_plan, clock=session.clock, timeout=terms.timeout, notice=session.notice)

    server = server_for(placed.plan)
    if not placed.alternatives:
        return connection, placed.plan, server
    live = server.find()
    plan = placed.plan if live and replaces(terms.if_exists, describe(live)) else placed.plan_of(live)
    tell_kept(session, planner, placed, plan)
    return connection, plan, server_for(plan)


def _told(report: Report, plan: Plan) -> Iterator[str]:
    for text, about in report.warnings.items():
        yield f"Warning from the API server: {text} ({', '.join(runs(about))})"
    for label, why in report.left_out.items():
        yield f"Not checked: {label}: {why}"
    if report.refusals:
        told = summary(report.refusals)
        if len(told) > 1:
            yield from (f"Refused: {label}: {first.message}" for label, first in told.items())
        return
    if report.accepted:
        yield f"Accepted by the API server, and nothing was created: {', '.join(runs(report.accepted))}."
    if report.existing is not None:
        phase = describe(report.existing).phase
        same = (report.existing["metadata"].get("annotations") or {}).get(HASH_ANNOTATION) == plan.hash
        how = "of the same plan" if same else "of another plan; --diff shows what differs"
        yield f"Note: {plan.name} exists already ({phase}), {how}."


def _stored(report: Report) -> dict[str, Any]:
    if report.stored is None:
        return {}
    metadata: Mapping[str, Any] = report.stored["metadata"]
    kept = {key: value for key, value in metadata.items() if key not in _MADE_UP}
    return {**report.stored, "metadata": kept}
