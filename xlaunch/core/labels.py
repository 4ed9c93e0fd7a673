"""Labels, annotations and node selectors as KEY=VALUE words."""

from __future__ import annotations

from collections.abc import Iterable

from xlaunch.core.errors import UsageError
from xlaunch.core.names import is_label_value, is_qualified_name
from xlaunch.core.words import check_text

# Keys that mean something to JobSet, Kueue or xlaunch, with the flag that sets them where there is one
_RESERVED = {
    "kueue.x-k8s.io/queue-name": "--queue",
    "xpk.google.com/workload": "--workload",
    "xlaunch.dev/plan-hash": "",
    "xlaunch.dev/owner": "",
    "alpha.jobset.sigs.k8s.io/exclusive-topology": "",
}
_RESERVED_PREFIXES = ("jobset.sigs.k8s.io/", "batch.kubernetes.io/")


def parse_labels(flag: str, words: Iterable[str]) -> dict[str, str]:
    """`KEY=VALUE` words as labels; the last of a repeated key wins. Raises UsageError."""
    found = dict(_pair(flag, word) for word in words)
    for key, value in found.items():
        if not is_label_value(value):
            raise UsageError(
                f"{flag} {key}={value!r} can't be the value of a label",
                why="It has at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
                next=f"--annotation {key}=… takes any text" if flag == "--label" else "",
            )
    return found


def parse_annotations(flag: str, words: Iterable[str]) -> dict[str, str]:
    """`KEY=VALUE` words as annotations, whose values may be any text."""
    found = dict(_pair(flag, word) for word in words)
    for key, value in found.items():
        check_text(f"the value of {flag} {key}", value)
    return found


def check_not_reserved(flag: str, keys: Iterable[str]) -> None:
    """Raises UsageError for keys by which JobSet, Kueue or xlaunch find their objects."""
    for key in keys:
        if key in _RESERVED or key.startswith(_RESERVED_PREFIXES):
            instead = _RESERVED.get(key, "")
            raise UsageError(
                f"{flag} {key} can't be set",
                why="JobSet, Kueue or xlaunch sets it and finds objects by it",
                next=f"Use {instead}" if instead else "Take another key",
            )


def _pair(flag: str, word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    # Upper case is fine in the domain of an annotation's key (apimachinery ValidateAnnotations)
    checked = key.lower() if flag == "--annotation" else key
    if not equals or not is_qualified_name(checked):
        raise UsageError(
            f"{flag} {word[:80]!r} is not KEY=VALUE",
            why="A key is a name of at most 63 characters, or DOMAIN/NAME",
            next=f"Write it as {flag} team=vision",
        )
    return key, value
