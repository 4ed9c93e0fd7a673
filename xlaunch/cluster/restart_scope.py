"""`--restart-scope=auto`: what this cluster's JobSet is able to, asked by a dry run."""

from __future__ import annotations

from dataclasses import dataclass

from xlaunch.cluster.dry_run import UNSUPPORTED, DryRun
from xlaunch.cluster.submit import NO_RESTART_JOB
from xlaunch.cluster.versions import answered_version
from xlaunch.core.errors import RefusedError
from xlaunch.core.restart_scope import POD, SLICE, TOO_OLD, restarts_slices


@dataclass(frozen=True)
class Choice:
    """The scope that was chosen, and why: a sentence without its full stop."""

    scope: str
    why: str


def choose(server: DryRun) -> Choice:
    """The scope for this cluster. `server` asks about the plan with the scope `slice`.

    Accepted it is `slice`, unless the schema is newer than the controller, which would not know what to do. Refused for
    want of RestartJob it is `pod`. Any other refusal is the plan's own, and is raised as a submission raises it.
    """
    try:
        reply = server.stored(exists=server.find() is not None)
    except RefusedError as error:
        if error.reason == NO_RESTART_JOB:
            return Choice(POD, error.why)
        if UNSUPPORTED in error.why:
            raise RefusedError(
                "--restart-scope=auto can't ask this cluster what it is able to",
                why=error.why,
                next="Take --restart-scope=pod, or slice where JobSet has its RestartJob gate on",
                reason=error.reason,
            ) from error
        raise
    if not restarts_slices(reply.body):
        return Choice(POD, "the template has no rule that restarts single slices")
    controller = answered_version(server.create)
    if controller.is_before(0, 12):
        return Choice(POD, f"{TOO_OLD}, and the controller is {controller}, older than its schema")
    return Choice(SLICE, "JobSet's feature gate RestartJob is on")
