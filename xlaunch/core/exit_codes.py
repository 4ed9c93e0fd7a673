"""`--restart-on-exit-codes`: with which exit codes of the main container the workload may be restarted."""

from __future__ import annotations

import re

from xlaunch.core.errors import UsageError

# xpk 1.16 commands/workload.py get_restart_exit_codes: these always restart, the user's are added
ALWAYS = (42, *range(127, 256))
_ITEM = r"\s*(?P<first>[0-9]{1,3})\s*(?:-\s*(?P<last>[0-9]{1,3})\s*)?"


def parse(text: str) -> tuple[int, ...]:
    """All codes that restart, in order: those of `1,3-5` with xpk's own. "" means that every failure restarts: ()."""
    if not text:
        return ()
    codes = set(ALWAYS)
    for item in text.split(","):
        found = re.fullmatch(_ITEM, item)
        first = int(found["first"]) if found else 0
        last = int(found["last"] or first) if found else 0
        if not 1 <= first <= last <= 255:
            raise UsageError(
                f"--restart-on-exit-codes {text!r} is not a list of exit codes",
                why="It takes codes from 1 to 255 and ranges of them, as in 1,3-5; 0 is success",
                next="Give it as --restart-on-exit-codes=1,3-5",
            )
        codes.update(range(first, last + 1))
    return tuple(sorted(codes))
