"""`--control-plane=real` of `xlaunch local up`: what the flags ask for, and what must be there before it can start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlaunch.cli.session import Session
from xlaunch.core.errors import NotFoundError, UsageError, XlaunchError
from xlaunch.local.plane import EMBEDDED_PLANE, REAL, Plane

if TYPE_CHECKING:
    from testbed.upstreams import Upstream

HOW_TO_EXPORT = "On a machine with Go: python -m testbed export DIR"


def versions_of(name: str) -> list[str]:
    """What `--kubernetes` or `--jobset` can be, the usual one first."""
    from testbed.upstreams import versions

    return list(versions(name))


def asked(kind: str, kubernetes: str, jobset: str, binaries: str, time_scale: float | None) -> Plane | None:
    """The control plane that the flags ask for, None where they leave it open; UsageError for a contradiction."""
    given = [
        flag for flag, value in (("--binaries", binaries), ("--kubernetes", kubernetes), ("--jobset", jobset)) if value
    ]
    if kind != REAL:
        if given:
            raise UsageError(f"{given[0]} is for a real control plane", next="Add --control-plane=real")
        return EMBEDDED_PLANE if kind else None
    if time_scale is not None:
        raise UsageError(
            "--time-scale means nothing to a real control plane",
            why="The waits of Kubernetes are in its code, and real",
            next="Leave --time-scale away, or take the embedded control plane",
        )
    if binaries and len(given) > 1:
        raise UsageError(
            f"--binaries and {given[1]} contradict each other",
            why="Ready binaries have the version that they have",
            next="Give one of them",
        )
    for name, version in (("kubernetes", kubernetes), ("jobset", jobset)):
        if version and version not in versions_of(name):
            raise UsageError(
                f"--{name} {version} cannot be built",
                why=f"There are {', '.join(versions_of(name))}",
                next=f"Leave it away for {versions_of(name)[0]}, or give another one with --binaries DIR",
            )
    return Plane(REAL, kubernetes, jobset, str(Path(binaries).absolute()) if binaries else "")


def prepare(plane: Plane, session: Session) -> None:
    """Sees to it that all parts of a real control plane are there: looks at the ready ones, or builds what is missing.

    NotFoundError (exit 3) names what is not there; XlaunchError a build that fails. Ctrl-C leaves nothing half built.
    """
    if plane.kind != REAL:
        return
    from testbed.control_plane import ControlPlane

    parts = list(ControlPlane(**plane.versions).upstreams().values())
    if plane.binaries:
        _check(Path(plane.binaries), parts)
    else:
        _build(parts, session)


def _check(directory: Path, parts: Sequence[Upstream]) -> None:
    from testbed.binaries import missing

    if not directory.is_dir():
        raise NotFoundError(f"{directory} is no directory", next=HOW_TO_EXPORT, reason="BinariesMissing")
    if lacking := missing(directory, parts):
        raise NotFoundError(
            f"{directory} lacks {', '.join(lacking)}",
            why="A control plane needs executables in bin/ and JobSet's manifests in files/",
            next=HOW_TO_EXPORT,
            reason="BinariesMissing",
        )


def _build(parts: Sequence[Upstream], session: Session) -> None:
    from testbed.build import BuildError, NoGoError, build, is_built

    for part in parts:
        there, began = is_built(part, session.env), session.clock.monotonic()
        try:
            build(part, session.env, say=session.notice)
        except NoGoError as error:
            raise NotFoundError(
                f"{part.label} is not built yet, and there is no Go on this machine",
                next=f"Install Go 1.26 or newer, or add --binaries DIR. {HOW_TO_EXPORT}",
                reason="NoGo",
            ) from error
        except BuildError as error:
            first, *rest = str(error).splitlines()
            raise XlaunchError(first.rstrip(":"), why=rest[-1] if rest else "", reason="BuildFailed") from error
        if not there:
            session.notice(f"Built {part.label} in {session.clock.monotonic() - began:.0f} s.")
