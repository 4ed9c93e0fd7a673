"""Texts that people type: what a manifest can carry at all, and splitting by the shell's rules."""

from __future__ import annotations

from xlaunch.core.errors import UsageError


def check_text(what: str, text: str) -> None:
    """Raises UsageError for what no process can be given (NUL) or no manifest can hold (bytes that are not UTF-8)."""
    if "\0" in text:
        raise UsageError(
            f"{_begun(what)} contains a NUL character", why="No process can be given one", next="Remove it"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{_begun(what)} is not valid UTF-8", why="Manifests are UTF-8", next="Encode it, for example as base64"
        ) from None


def shell_words(flag: str, text: str) -> tuple[str, ...]:
    """The words of a text by the shell's quoting rules, without any substitution (`shlex.split`)."""
    import shlex

    check_text(flag, text)
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(
            f"{flag} can't be split into words: {str(error).lower()}",
            why="Its value is split like a shell line, so that an argument may contain blanks inside quotes",
            next=f"Balance the quotes of {flag}",
        ) from None


def _begun(what: str) -> str:
    return what[:1].upper() + what[1:]
