"""pytest's side of the test bed: control planes that last for the whole run, and what is said where a tool is missing.

`@pytest.mark.parametrize("control_plane", [ControlPlane(...)], indirect=True)` chooses one; without it, it is the
default one. A test that uses it is marked `real`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar, cast

import pytest

from testbed.build import NoGoError
from testbed.control_plane import ControlPlane
from testbed.instance import Instance

# Why a test did not run, as `missing` writes it and `summary` finds it
MISSING = "needs {}, which is not here: {}"
STAGE = pytest.StashKey["Stage"]()

Start = Callable[[ControlPlane], Instance]
T = TypeVar("T")


class Stage:
    """What runs now. One thing at a time: a control plane that nobody uses takes a tenth of a processor.

    `directory` makes one for a control plane, and `say` tells whoever waits. `logs`: where those of what runs now are.
    """

    def __init__(self, directory: Callable[[], Path], say: Callable[[str], None]) -> None:
        self.logs: Path | None = None
        self._directory = directory
        self._say = say
        self._key: object = None
        self._found: object = None
        self._stack = ExitStack()

    def get(self, key: object, start: Callable[[ExitStack], T]) -> T:
        """What runs under that key, started now if something else does, which ends then."""
        if key != self._key:
            self.close()
            self._found = start(self._stack)
            self._key = key
        return cast("T", self._found)

    def launch(self, plane: ControlPlane, stack: ExitStack) -> Instance:
        """A control plane that ends with the stack; without Go the test that asks is skipped. For `start` of `get`."""
        self.logs = self._directory()
        try:
            return stack.enter_context(plane.running(self.logs, say=self._say))
        except NoGoError as error:
            unavailable(error, os.environ)

    def close(self) -> None:
        """Ends it."""
        self._key = self._found = self.logs = None
        self._stack.close()


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Stage]:
    """Where control planes run."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")

    def say(line: str) -> None:
        # A build takes minutes: whoever runs the tests should know why nothing moves
        with capture.global_and_fixture_disabled():
            pytestconfig.get_terminal_writer().line(f"\n{line}")

    made = pytestconfig.stash[STAGE] = Stage(partial(tmp_path_factory.mktemp, "control-plane"), say)
    yield made
    made.close()


@pytest.fixture(scope="session")
def control_planes(stage: Stage) -> Start:
    """Gives a running control plane; the same one for the same parameters, until another one is asked for."""
    return lambda plane: stage.get(plane, partial(stage.launch, plane))


@pytest.fixture
def control_plane(request: pytest.FixtureRequest, control_planes: Start) -> Instance:
    """The control plane of one test."""
    return control_planes(getattr(request, "param", ControlPlane()))


def unavailable(error: NoGoError, env: Mapping[str, str]) -> NoReturn:
    """Ends a test for which no control plane can be built; see `missing`."""
    missing("the real control plane", str(error), env)


def missing(tool: str, why: str, env: Mapping[str, str]) -> NoReturn:
    """Skips a test for want of something that a machine need not have; in CI, where nobody reads that, it fails."""
    reason = MISSING.format(tool, why)
    if env.get("CI", "").lower() in ("true", "1"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps tests of one control plane together, so that it starts once, also where several processes test."""
    # First of all hooks: pytest-xdist reads the marks in the same one
    for item in items:
        if "control_plane" in getattr(item, "fixturenames", ()):
            plane = item.callspec.params.get("control_plane") if hasattr(item, "callspec") else None
            item.add_marker(pytest.mark.xdist_group(str(plane or ControlPlane())))
    in_turn(items)


def in_turn(items: list[pytest.Item]) -> None:
    """Sorts tests into the order in which several processes should take them (with --no-loadscope-reorder).

    The groups come first, as what is alone fills the gaps that they leave at the end; and of both those that last long
    by their mark `long`, so that none of them begins when the others are done.
    """
    long = {group_of(item) for item in items if item.get_closest_marker("long")} - {""}

    def turn(item: pytest.Item) -> tuple[bool, bool, str]:
        group = group_of(item)
        return not group, not (group in long if group else item.get_closest_marker("long")), group

    items.sort(key=turn)


def group_of(item: pytest.Item) -> str:
    """The name of the group that stays in one process, as pytest-xdist makes it of its marks; "" without one."""
    return "_".join(sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")}))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds where the control plane's logs are to the report of a test that failed, whatever fixture led it there."""
    report = yield
    used = "stage" in getattr(item, "fixturenames", ()) and item.get_closest_marker("real")
    stage = item.config.stash.get(STAGE, None)
    if report.failed and used and stage and stage.logs:
        report.sections.append(("Logs of the control plane", str(stage.logs)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One loud line for each tool for want of which tests did not run: how many, and why."""
    for line in summary(str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())):
        terminalreporter.write_sep("!", line, red=True, bold=True)


def summary(reasons: Iterable[str]) -> list[str]:
    """Those lines, from the reasons of all skipped tests; none where no tool was missing."""
    found = [match.groups() for reason in reasons if (match := re.search(MISSING.format("(.+)", "(.+)"), reason))]
    why = {tool: text.rstrip("')") for tool, text in found}
    counts = Counter(tool for tool, _ in found)
    return [f"{count} SKIPPED for want of {tool}: {why[tool]}" for tool, count in counts.items()]
