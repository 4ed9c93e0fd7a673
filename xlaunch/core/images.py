"""Container images: the form of their names."""

from __future__ import annotations

import re

from xlaunch.core.errors import UsageError

# github.com/distribution/reference regexp.go; a first part with a dot, a port or an upper-case letter is a registry
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_REGISTRY = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_IMAGE = re.compile(
    rf"(?:{_REGISTRY}/)?{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
LONGEST = 1024


def check_image(flag: str, image: str) -> None:
    """Raises UsageError for what no container runtime takes as an image, which would end in InvalidImageName."""
    if len(image) > LONGEST or not _IMAGE.fullmatch(image):
        what = "is missing" if not image else f"{image[:100]!r} is not the name of an image"
        raise UsageError(
            f"{flag} {what}",
            why="Images are written as REGISTRY/REPOSITORY:TAG or …@sha256:DIGEST, the repository in lower case",
            next=f"Give one like us-docker.pkg.dev/my-project/my-repo/maxtext:latest to {flag}",
        )
