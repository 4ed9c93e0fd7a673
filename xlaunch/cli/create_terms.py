"""How to submit, out of the flags: dry runs check them as a submission does, before any cluster is touched."""

from __future__ import annotations

from dataclasses import dataclass

from xlaunch.cli.create_options import CreateOptions
from xlaunch.core.durations import parse_duration
from xlaunch.core.errors import UsageError

IF_EXISTS = ("replace", "replace-finished", "skip")


@dataclass(frozen=True)
class Terms:
    """What to do about a name that is taken, how long to try (seconds), and what to go on with."""

    if_exists: str  # one of IF_EXISTS or ""
    timeout: float
    replace_timeout: float
    assume_yes: bool
    then: str  # "follow", "wait" or ""

    @classmethod
    def of(cls, options: CreateOptions) -> Terms:
        """Raises UsageError for a value that is none."""
        if options.if_exists and options.if_exists not in IF_EXISTS:
            raise UsageError(
                f"--if-exists {options.if_exists} is not one of {', '.join(IF_EXISTS)}",
                next="Leave it away to be told when the name is taken",
            )
        if options.follow and options.output and not options.dry_run:
            raise UsageError(
                f"--follow prints the log, and -o {options.output} an object",
                why="Standard output can be one of them",
                next="Take --wait instead of --follow, or leave -o away",
            )
        return cls(
            options.if_exists,
            parse_duration("--submit-timeout", options.submit_timeout),
            parse_duration("--timeout", options.timeout),
            options.yes,
            "follow" if options.follow else "wait" if options.wait else "",
        )
