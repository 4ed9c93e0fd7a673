"""The plan of a command line on one cluster: in its namespace, and with what --restart-scope=auto means there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from xlaunch.cli.planner import Planner
from xlaunch.cli.session import Session
from xlaunch.cluster.api import Api
from xlaunch.cluster.dry_run import DryRun
from xlaunch.cluster.restart_scope import Choice, choose
from xlaunch.core.plan import HASH_ANNOTATION, Plan
from xlaunch.core.restart_scope import MAX_SLICES, POD, SLICE, restarts_slices
from xlaunch.core.spec import PathwaysSpec


@dataclass(frozen=True)
class Placed:
    """`plan` is what would be submitted. The `alternatives` have another restart scope.

    A workload that was made from one of these is what was asked for, too: the gate of the cluster was another then.
    """

    plan: Plan
    alternatives: tuple[Plan, ...] = ()

    def plan_of(self, jobset: Mapping[str, Any] | None) -> Plan:
        """The plan that a JobSet was made from, or else the one that would be submitted."""
        recorded = ((jobset or {}).get("metadata", {}).get("annotations") or {}).get(HASH_ANNOTATION)
        return next((each for each in self.alternatives if each.hash == recorded), self.plan)


def place(session: Session, api: Api, spec: PathwaysSpec, planner: Planner, *, timeout: float) -> Placed:
    """The plan for this cluster, kept where the user wants it; what it has chosen is said on stderr.

    Under --restart-scope=auto the cluster is asked, for `timeout` seconds at most. Raises as `choose`.
    """
    spec = replace(spec, namespace=api.namespace)
    placed = _chosen(session, api, spec, planner, timeout) if spec.auto_scope else Placed(planner.make(spec))
    planner.keep(placed.plan)
    for notice in placed.plan.notices:
        session.notice(notice)
    return placed


def scope_of(plan: Plan) -> str:
    """The restart scope of a plan, whatever it comes from."""
    return SLICE if restarts_slices(plan.manifest) else POD


def tell_kept(session: Session, planner: Planner, placed: Placed, plan: Plan) -> None:
    """Where the workload keeps another restart scope than it would get now: says so, and keeps that manifest."""
    if plan.hash != placed.plan.hash:
        planner.keep(plan)
        session.notice(f"Note: {plan.name} was submitted with the restart scope {scope_of(plan)}, and keeps it.")


def _chosen(session: Session, api: Api, spec: PathwaysSpec, planner: Planner, timeout: float) -> Placed:
    plans = {POD: planner.make(replace(spec, restart_scope=POD))}
    if spec.num_slices > MAX_SLICES:
        choice = Choice(POD, f"JobSet restarts single slices only where there are no more than {MAX_SLICES}")
    else:
        plans[SLICE] = planner.make(replace(spec, restart_scope=SLICE))
        server = DryRun(api, plans[SLICE], clock=session.clock, timeout=timeout, notice=session.notice)
        choice = choose(server)
    session.notice(f"Note: --restart-scope=auto means {choice.scope} here: {choice.why}.")
    plan = plans.pop(choice.scope)
    return Placed(plan, tuple(plans.values()))
