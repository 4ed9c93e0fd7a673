"""The end of the demo as tables and as data: phases of the recovery, forecast and measurement, the proof."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from xlaunch.cli.output import Result, Table
from xlaunch.core.recovery import Phase, Recovery, between
from xlaunch.demo import blog, forecast
from xlaunch.demo.proof import Check, checks, holds
from xlaunch.demo.rehearsal import Outcome

WORKLOAD_FAILED, TIMED_OUT = 10, 124


def report(outcome: Outcome, scale: float, kept: Sequence[str]) -> Result:
    """The result of a rehearsal; `scale` turns real seconds into the cluster's, `kept` are commands to go on with."""
    recovery = outcome.recovery
    proof = checks(outcome.before, outcome.after, recovery) if outcome.before and outcome.after else ()
    held = bool(proof) and holds(proof)
    phases = timings(outcome, scale)
    parts: list[str | Table] = [""]
    if phases:
        parts += [Table(("RECOVERY", "FORECAST", "MEASURED"), [_row(*phase) for phase in phases])]
        parts += [_steps(recovery) if recovery else "", ""]
    if proof:
        rows = [(check.name, *_values(check), "ok" if check.holds else "FAILED") for check in proof]
        parts += [Table(("PROOF", "BEFORE", "AFTER", ""), rows), ""]
    parts.append(_verdict(outcome, proof, held))
    if scale != 1.0:
        parts.append(f"Times are the cluster's, which ran {1 / scale:g} times faster.")
    parts += [f"  {line}" for line in kept]
    return Result(
        "Demo",
        {
            "proven": held,
            "timeScale": scale,
            "stepsLost": recovery.steps_lost if recovery else None,
            "restoredStep": recovery.restored_step if recovery else None,
            "firstStep": recovery.first_step if recovery else None,
            "phases": [{"name": name, "forecastSeconds": ahead, "seconds": took} for name, ahead, took in phases],
            "proof": [
                {"name": check.name, "before": check.before, "after": check.after, "holds": check.holds}
                for check in proof
            ],
        },
        parts,
        name=blog.NAME,
        exit_code=0 if held else TIMED_OUT if outcome.timed_out else WORKLOAD_FAILED,
    )


def timings(outcome: Outcome, scale: float) -> list[tuple[str, float | None, float | None]]:
    """Phases as (name, forecast, measured) in seconds of the cluster; None where there is nothing to say."""
    recovery = outcome.recovery
    if recovery is None or recovery.down is None:
        return []
    lost = first_loss(outcome)
    pods = sum(1 for loss in outcome.losses if loss.lost <= recovery.down) or len(outcome.losses)
    replaced = max((loss.replaced for loss in outcome.losses if loss.replaced), default=None)
    waiting_after = _scaled(between(lost, recovery.wait_began), scale) or 0.0
    ahead = {
        "wait for slices": forecast.wait_for_slices(pods, waiting_after),
        "back-off of the Job": forecast.back_off(pods),
    }
    found = [Phase("loss noticed", between(lost, recovery.down))]
    for phase in recovery.phases():
        found.append(phase)
        if phase.name == "wait for slices":
            found.append(Phase("back-off of the Job", between(lost, replaced)))
    found.append(Phase("loss to first step", between(lost, recovery.first_step_at)))
    return [(phase.name, ahead.get(phase.name), _scaled(phase.seconds, scale)) for phase in found]


def _scaled(seconds: float | None, scale: float) -> float | None:
    return None if seconds is None else round(seconds / scale, 3)


def _row(name: str, ahead: float | None, took: float | None) -> tuple[str, str, str]:
    indent = "  of which " if name == "back-off of the Job" else ""
    return f"{indent}{name}", _seconds(ahead), _seconds(took)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:5.1f} s"


def _values(check: Check) -> tuple[str, str]:
    """Before and after, as short as it takes to keep the table within 80 columns."""
    before, after = (value.removeprefix(f"{blog.NAME}-") for value in (check.before, check.after))
    same = before.partition(",")[0]
    if after.partition(",")[0] == same:
        after = f"same{after.removeprefix(same) if after != before else ''}"
    return before, after if check.after else ""


def _steps(recovery: Recovery) -> str:
    if recovery.steps_lost is None:
        return "Steps lost: none were trained before, or none were restored."
    return f"Steps lost: {recovery.steps_lost} ({recovery.last_step} back to {recovery.restored_step})"


def _verdict(outcome: Outcome, proof: Sequence[Check], held: bool) -> str:
    if held:
        return "The proof holds: a slice was lost, and the trainer went on in the same process."
    if not proof:
        return f"Nothing is proven: {outcome.ended or 'training never began'}."
    failed = ", ".join(check.name for check in proof if not check.holds)
    return f"The proof does not hold: {failed}." + (f" The run ended: {outcome.ended}." if outcome.ended else "")


def first_loss(outcome: Outcome) -> datetime | None:
    """When the worker was lost: at our own kill, or when the viewer's was seen."""
    return outcome.killed or (outcome.losses[0].lost if outcome.losses else None)
