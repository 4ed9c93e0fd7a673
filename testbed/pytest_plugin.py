"""pytest's side of the test bed: control planes that last for the whole run, and what is said where there is no Go.

`@pytest.mark.parametrize("control_plane", [ControlPlane(...)], indirect=True)` chooses one; without it, it is the
default one. A test that uses it is marked `real`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pytest

from testbed.build import NoGoError
from testbed.control_plane import ControlPlane
from testbed.instance import Instance

SKIPPED = "no real control plane: "
LOGS = pytest.StashKey[Path]()

Start = Callable[[ControlPlane], Instance]


@pytest.fixture(scope="session")
def control_planes(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Start]:
    """Gives a running control plane; the same one for the same parameters, until the run ends."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    instances: dict[ControlPlane, Instance] = {}

    def say(line: str) -> None:
        # A build takes minutes: whoever runs the tests should know why nothing moves
        with capture.global_and_fixture_disabled():
            request.config.get_terminal_writer().line(f"\n{line}")

    def start(plane: ControlPlane) -> Instance:
        if plane not in instances:
            directory = tmp_path_factory.mktemp("control-plane")
            try:
                instances[plane] = stack.enter_context(plane.running(directory, say=say))
            except NoGoError as error:
                unavailable(error, os.environ)
        return instances[plane]

    with ExitStack() as stack:
        yield start


@pytest.fixture
def control_plane(request: pytest.FixtureRequest, control_planes: Start) -> Instance:
    """The control plane of one test; a failure names the directory of its logs."""
    instance = control_planes(getattr(request, "param", ControlPlane()))
    request.node.stash[LOGS] = instance.directory
    return instance


def unavailable(error: NoGoError, env: Mapping[str, str]) -> NoReturn:
    """Skips the test; in CI, where nobody would read that, it fails."""
    if env.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"{SKIPPED}{error}", pytrace=False)
    pytest.skip(f"{SKIPPED}{error}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps tests of one control plane together where several processes test: it starts once."""
    for item in items:
        if "control_plane" in getattr(item, "fixturenames", ()):
            plane = item.callspec.params.get("control_plane") if hasattr(item, "callspec") else None
            item.add_marker(pytest.mark.xdist_group(str(plane or ControlPlane())))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds where the control plane's logs are to the report of a test that failed."""
    report = yield
    if report.failed and LOGS in item.stash:
        report.sections.append(("Logs of the control plane", str(item.stash[LOGS])))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One loud line that says how many tests did not run for want of Go, and why."""
    line = summary([str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())])
    if line:
        terminalreporter.write_sep("!", line, red=True, bold=True)


def summary(reasons: list[str]) -> str:
    """That line, from the reasons of all skipped tests; "" where none was skipped for want of Go."""
    ours = [reason for reason in reasons if SKIPPED in reason]
    if not ours:
        return ""
    why = ours[0].partition(SKIPPED)[2].rstrip("')")
    return f"{len(ours)} tests of the real control plane were SKIPPED: {why}"
