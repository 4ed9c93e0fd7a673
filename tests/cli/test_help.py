"""Every page of help, as people see it at 80 columns: golden/help/."""

import pytest

from xlaunch.cli.app import app
from xlaunch.cli.command import Entry


def paths(entries, prefix=()):
    for name, entry in entries.items():
        yield (*prefix, name)
        if not isinstance(entry, Entry):
            yield from paths(entry.entries, (*prefix, name))


PAGES = list(paths(app().entries))


@pytest.mark.parametrize("path", PAGES, ids=" ".join)
def test_the_page(path, xlaunch, golden, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    outcome = xlaunch(*path, "--help")
    assert (outcome.code, outcome.stderr) == (0, "")
    golden(f"help/{'-'.join(path)}.txt", outcome.stdout)


@pytest.mark.parametrize("path", PAGES, ids=" ".join)
def test_it_fits_the_terminal(path, xlaunch, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    # Examples are lines to copy: those are not broken
    text = xlaunch(*path, "--help").stdout.partition("Examples:")[0]
    assert [line for line in text.splitlines() if len(line) > 80] == []
