"""The table of all commands."""

from __future__ import annotations

from xlaunch.cli.command import Entry, LazyGroup, group

SUMMARY = "Launch and watch elastic TPU training on GKE."
EPILOG = """\b
Every command takes --debug (tracebacks), --no-color and -h.
xlaunch --version prints the version of this program alone.

\b
Start here:
  xlaunch demo                             lose a slice here, and recover
  xlaunch workload create-pathways --help  the flags of xpk, and more
  xlaunch status NAME                      on any JobSet, read only
"""


def _entry(module: str, summary: str, function: str = "command") -> Entry:
    return Entry(f"xlaunch.cli.{module}", summary, function)


def app() -> LazyGroup:
    """The program as one group; no command's module is imported yet."""
    workload = group(
        "workload",
        "Create, list and delete workloads.",
        {
            "create-pathways": _entry("create_pathways", "Render, check and submit a Pathways JobSet."),
            "list": _entry("list", "List the workloads of a namespace."),
            "delete": _entry("delete", "Delete workloads by name."),
        },
    )
    local = group(
        "local",
        "The embedded cluster on this machine.",
        {
            "up": _entry("local_up", "Start a cluster on this machine."),
            "down": _entry("local", "Stop a local cluster and all that it runs.", "down"),
            "status": _entry("local", "Show the local clusters of this machine.", "status"),
        },
    )
    template = group(
        "template",
        "The shipped JobSet templates.",
        {
            "list": _entry("template", "List the shipped templates.", "list_templates"),
            "export": _entry("template", "Write a template to edit, for --template FILE.", "export"),
        },
    )
    return group(
        "xlaunch",
        SUMMARY,
        {
            "workload": workload,
            "logs": _entry("logs", "Follow the head's main container across every restart."),
            "status": _entry("status", "Show phase, restarts and the ledger of each slice."),
            "wait": _entry("wait", "Block until a workload runs, ends or is gone; the exit code tells the truth."),
            "demo": _entry("demo", "Rehearse the loss of a slice on this machine, with the proof."),
            "local": local,
            "template": template,
            "version": _entry("version", "Show the versions of xlaunch, the cluster and JobSet."),
            "completion": _entry("completion", "Print the completion script of a shell."),
        },
        epilog=EPILOG,
    )
