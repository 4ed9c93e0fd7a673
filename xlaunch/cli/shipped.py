"""The JobSet templates that come with xlaunch: inside the package of a wheel, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from xlaunch.core.errors import NotFoundError

SUFFIX = ".yaml.j2"
PATHWAYS = "pathways"
_PACKAGE = Path(__file__).parent.parent
_PLACES = (_PACKAGE / "templates", _PACKAGE.parent / "templates")


def names() -> list[str]:
    """The names of the templates, in order."""
    return sorted(path.name.removesuffix(SUFFIX) for path in _directory().glob(f"*{SUFFIX}"))


def text(name: str) -> str:
    """The text of a template; NotFoundError for a name that there is not."""
    path = _directory() / f"{name}{SUFFIX}"
    if name not in names():
        raise NotFoundError(
            f"There is no template {name}",
            why=f"There are {', '.join(names())}",
            next="xlaunch template list",
        )
    return path.read_text(encoding="utf-8")


def summary(name: str) -> str:
    """The first sentence of a template's leading comment."""
    comment = text(name).partition("{#")[2].partition("#}")[0]
    return comment.strip().partition("\n\n")[0].replace("\n", " ")


def _directory() -> Path:
    return next(place for place in _PLACES if place.is_dir())
