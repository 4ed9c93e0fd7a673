"""Kubernetes quantities: 24, 500m, 100G, 64Gi, 1e3."""

from __future__ import annotations

import re

# k8s.io/apimachinery pkg/api/resource: no sign here, since no amount of ours may be negative
_QUANTITY = re.compile(r"(?P<number>[0-9]+(\.[0-9]*)?|\.[0-9]+)(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,2})?")


def is_quantity(text: str) -> bool:
    """Whether it is an amount above zero."""
    found = _QUANTITY.fullmatch(text)
    return found is not None and float(found["number"]) > 0
