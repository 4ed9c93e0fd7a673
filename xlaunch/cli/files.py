"""Small text files that people name on the command line."""

from __future__ import annotations

from pathlib import Path

from xlaunch.core.errors import UsageError, XlaunchError

# Characters: more than any manifest has, less than /dev/zero
LARGEST = 8_000_000


def read(flag: str, path: str) -> str:
    """The text of a file in UTF-8; UsageError where it can't be read."""
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            text = file.read(LARGEST + 1)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{flag} {path} is not a text in UTF-8",
            why=f"Byte {error.start} can't be read as one",
            next="Convert it, for example with iconv",
        ) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{flag} {path} can't be read", why=_reason(error), next="Name another file") from error
    if len(text) > LARGEST:
        raise UsageError(f"{flag} {path} is larger than 8 MB", next="Name another file")
    return text


def write(flag: str, path: str, text: str) -> None:
    """Writes a file in UTF-8 with the line ends as they are; XlaunchError where that fails."""
    try:
        Path(path).write_bytes(text.encode())
    except (OSError, ValueError) as error:
        raise XlaunchError(f"{flag} {path} can't be written", why=_reason(error), next="Name another file") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
