"""Where Pathways keeps its scratch files: a gs:// location, given or taken from the training command."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlaunch.core.errors import UsageError
from xlaunch.core.words import check_text

# xpk's default for --pathways-gcs-location: only Google's own service accounts may write there
STAGING_BUCKET = "cloud-pathways-staging"
SUBDIRECTORY = "pathways-scratch"

# https://cloud.google.com/storage/docs/buckets#naming
_LOCATION = re.compile(r"gs://(?P<bucket>[a-z0-9][a-z0-9._-]{1,220}[a-z0-9])(?:/(?P<path>.*))?")
# MaxText takes key=value words; in a shell line the value may be quoted
_OUTPUT_WORD = r"(?:--)?base_output_directory=(?P<value>gs://.*)"
_OUTPUT_IN_LINE = (
    r"(?:^|[\s;&|(\"'])(?:--)?base_output_directory=(?:\"(?P<double>gs://[^\"]*)\"|'(?P<single>gs://[^']*)'|"
    r"(?P<bare>gs://[^\s;&|()\"'\\]*))"
)


def check_location(flag: str, location: str) -> str:
    """The location without a trailing slash. Raises UsageError for what is no gs:// location of the user's own."""
    check_text(flag, location)
    found = _LOCATION.fullmatch(location)
    if not found or not (found["path"] or "").isprintable():
        raise UsageError(
            f"{flag} is not a Cloud Storage location",
            why="It begins with gs:// and a bucket's name of 3 to 222 characters, as in gs://my-bucket/pathways",
            next=f"Give one to {flag}",
        )
    if found["bucket"] == STAGING_BUCKET:
        raise UsageError(
            f"{flag} is in gs://{STAGING_BUCKET}, which is Google's own bucket",
            why="Your workload may not write there: compilation would end in PERMISSION_DENIED",
            next="Give --pathways-gcs-location=gs://YOUR-BUCKET/pathways",
        )
    return location.rstrip("/")


def from_command(command: Sequence[str]) -> str:
    """The scratch location below the command's own `base_output_directory=gs://…`, "" where it has none.

    `command` is an argv, or one shell line. The last one counts, as in MaxText. One with a `$` is not known before the
    pod's shell runs, so it doesn't count.
    """
    if len(command) == 1:
        found = [next(filter(None, match.groups()), "") for match in re.finditer(_OUTPUT_IN_LINE, command[0])]
    else:
        found = [match["value"] for word in command if (match := re.fullmatch(_OUTPUT_WORD, word))]
    known = [value for value in found if "$" not in value and "`" not in value and _LOCATION.fullmatch(value)]
    return f"{known[-1].rstrip('/')}/{SUBDIRECTORY}" if known else ""


def required() -> UsageError:
    """The refusal where no location is known."""
    return UsageError(
        "Pathways needs a Cloud Storage location for its scratch files",
        why="None is given, and no base_output_directory=gs://BUCKET/… in the command says one: a bucket's name has "
        "3 to 222 characters, and a $ is not known before the pod runs",
        next="Add --pathways-gcs-location=gs://YOUR-BUCKET/pathways",
    )
