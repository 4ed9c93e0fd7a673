"""`create-pathways --diff`: what differs between the workload of that name and the plan."""

from __future__ import annotations

from collections.abc import Sequence

from xlaunch.cli.create_dry_run import ask
from xlaunch.cli.create_terms import Terms
from xlaunch.cli.output import Result
from xlaunch.cli.planner import Planner
from xlaunch.cli.session import Session
from xlaunch.cli.target import TargetOptions
from xlaunch.cluster import jobsets
from xlaunch.cluster.api import Api
from xlaunch.cluster.kueue import workload_of
from xlaunch.cluster.submit import Object, difference
from xlaunch.core.diff import comparable, is_placed, unified, unplaced
from xlaunch.core.plan import HASH_ANNOTATION, Plan
from xlaunch.core.spec import PathwaysSpec
from xlaunch.core.workload import describe

# As the conflict that a submission would meet; kubectl's 1 means here that xlaunch has failed
DIFFERENT = 5


def diff(session: Session, target: TargetOptions, terms: Terms, spec: PathwaysSpec, planner: Planner) -> Result:
    """Prints a unified diff, nothing where there is none; exit code 5 where there is one or the workload is going.

    What the server adds to every JobSet is no difference: both are compared as it would store them today.
    """
    connection, plan, server = ask(session, target, terms, spec, planner)
    live = server.find()
    leaving = live is not None and describe(live).deleting
    reply = server.stored(exists=live is not None)
    decides = plan.manifest["spec"].get("suspend") is not None
    text = unified(
        None if live is None else comparable(server.today(_unplaced(session, connection.api, live)), suspend=decides),
        comparable(reply.body, suspend=decides),
        f"{plan.namespace}/{plan.name}",
    )
    return Result(
        "Diff",
        {
            "changed": bool(text),
            "exists": live is not None,
            "deleting": leaving,
            "planHash": plan.hash,
            "diff": text,
            "warnings": list(reply.warnings),
        },
        [text] if text else [],
        name=plan.name,
        namespace=plan.namespace,
        exit_code=DIFFERENT if text or leaving else 0,
        notices=[
            *(f"Warning from the API server: {each}" for each in reply.warnings),
            _told(plan, live, text, connection.flags),
        ],
    )


def _unplaced(session: Session, api: Api, live: Object) -> Object:
    """The JobSet without what Kueue has written into its pods, if it has."""
    if not is_placed(live):
        return live
    workload = workload_of(api, live)
    if workload is None:
        session.notice(
            "Note: its Kueue Workload can't be read, so what Kueue has added to its pods counts as a difference."
        )
        return live
    return unplaced(live, workload)


def _told(plan: Plan, live: Object | None, text: str, flags: Sequence[str]) -> str:
    if live is None:
        return f"There is no {plan.name} in namespace {plan.namespace} yet: all of it would be new."
    workload = describe(live)
    phase = workload.phase
    if workload.deleting:
        gone = jobsets.command(f"xlaunch wait {plan.name} --for=deleted", flags)
        return (
            f"{plan.name} is being deleted{', and differs' if text else ''}. "
            f"A submission is refused until it is gone ({gone}); with --if-exists=replace it waits for that."
        )
    if text:
        return f"{plan.name} ({phase}) differs. It can't be changed in place; --if-exists=replace makes it anew."
    if (live["metadata"].get("annotations") or {}).get(HASH_ANNOTATION) != plan.hash:
        return (
            f"No difference: {plan.name} ({phase}) is what the server would make of the plan. "
            f"Yet a submission takes it for another: {difference(live)}."
        )
    return f"No difference: {plan.name} ({phase}) is what the plan says."
