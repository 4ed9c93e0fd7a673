"""Submitting from the command line: where to, what to ask, what to tell, and what to go on with."""

from __future__ import annotations

from dataclasses import dataclass

from xlaunch.cli.create_options import CreateOptions
from xlaunch.cli.create_place import place, scope_of, tell_kept
from xlaunch.cli.create_terms import Terms
from xlaunch.cli.facts import facts
from xlaunch.cli.output import Result
from xlaunch.cli.planner import Planner
from xlaunch.cli.session import Session
from xlaunch.cli.target import Connection, TargetOptions, connect
from xlaunch.cluster import jobsets
from xlaunch.cluster.connect import check
from xlaunch.cluster.submit import Submission, submit
from xlaunch.core.errors import DeclinedError
from xlaunch.core.plan import owned
from xlaunch.core.restart_scope import SLICE
from xlaunch.core.spec import PathwaysSpec
from xlaunch.core.workload import Workload


@dataclass(frozen=True)
class Submit:
    """Where to submit and how."""

    target: TargetOptions
    terms: Terms

    def run(self, session: Session, spec: PathwaysSpec, planner: Planner) -> Result:
        """Submits, and tells what came of it or goes on. `planner` makes the plan once the cluster is known."""
        connection = self._open(session, spec)
        placed = place(session, connection.api, spec, planner, timeout=self.terms.timeout)
        done = submit(
            connection.api,
            owned(placed.plan, owner_of(session)),
            if_exists=self.terms.if_exists,
            timeout=self.terms.timeout,
            clock=session.clock,
            notice=session.notice,
            confirm=lambda workload: self._confirm(session, workload),
            replace_timeout=self.terms.replace_timeout,
            flags=connection.flags,
            alternatives=placed.alternatives,
        )
        tell_kept(session, planner, placed, done.plan)
        told = _told(done, spec, connection)
        return self._go_on(session, connection, told) if self.terms.then else told

    def _go_on(self, session: Session, connection: Connection, told: Result) -> Result:
        """Follows or waits; stdout is theirs, so what was done is said on stderr."""
        for line in (*told.notices, told.data["message"]):
            session.notice(line)
        if self.terms.then == "follow":
            from xlaunch.cli.logs import follow_workload

            return follow_workload(session, connection, told.name)
        from xlaunch.cli.wait import wait_for

        return wait_for(session, connection, told.name)

    def _open(self, session: Session, spec: PathwaysSpec) -> Connection:
        """The connection; an embedded cluster that does not run yet is started in the size that is needed."""
        if self.target.local:
            from xlaunch.local.gates import RESTART_JOB
            from xlaunch.local.lifecycle import ensure

            ensure(
                self.target.local,
                tpu_type=spec.tpu.name,
                slices=spec.num_slices,
                machine_type=spec.tpu.machine_type,
                feature_gates=[RESTART_JOB] if spec.restart_scope == SLICE else (),
                env=session.env,
                notice=session.notice,
            )
        return connect(session, self.target, announce=True)

    def _confirm(self, session: Session, workload: Workload) -> None:
        if self.terms.assume_yes:
            return
        if not session.confirm(f"Replace {workload.name} ({facts(workload, session.clock.now())})?", flag="--yes"):
            raise DeclinedError(f"{workload.name} stays as it is", next="Take another name with --workload")


def target_of(options: CreateOptions) -> TargetOptions:
    """Where the flags lead; UsageError where they contradict each other."""
    target = TargetOptions(
        cluster=options.cluster,
        project=options.project,
        location=options.location,
        context=options.context,
        kubeconfig=options.kubeconfig,
        namespace=options.namespace,
    )
    check(target)
    return target


def owner_of(session: Session) -> str:
    """Who submits, as far as the environment tells; "" where it does not."""
    return session.env.get("USER") or session.env.get("LOGNAME") or ""


def _told(done: Submission, spec: PathwaysSpec, connection: Connection) -> Result:
    size = f"{spec.num_slices} x {spec.tpu.name}"
    line = done.message or f"{done.action.capitalize()} {done.name} in namespace {done.namespace} ({size})"
    following = [
        jobsets.command(f"xlaunch {command}", connection.flags)
        for command in (f"logs {done.name}", f"status {done.name} --watch", f"workload delete {done.name}")
    ]
    return Result(
        "Submission",
        {
            "action": done.action,
            "planHash": done.plan.hash,
            "restartScope": scope_of(done.plan),
            "message": line,
            "notices": list(done.plan.notices),
            "warnings": list(done.warnings),
            "next": following,
        },
        [f"{line}.", "Next:", *(f"  {command}" for command in following)],
        name=done.name,
        namespace=done.namespace,
        notices=[f"Warning from the API server: {warning}" for warning in done.warnings],
    )
