"""Kubernetes quantities: 24, 500m, 100G, 64Gi, 1e3."""

from __future__ import annotations

import re
from decimal import Decimal

# k8s.io/apimachinery pkg/api/resource; more digits of an exponent are an amount that nobody has
_QUANTITY = re.compile(
    r"(?P<number>[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,2})?"
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def amount(text: str) -> Decimal | None:
    """The number that a quantity stands for; None where it does not parse."""
    found = _QUANTITY.fullmatch(text)
    if not found:
        return None
    number, suffix = Decimal(found["number"]), found["suffix"] or ""
    if suffix in _BINARY:
        return number * Decimal(2 ** _BINARY[suffix])
    if suffix in _DECIMAL:
        return number.scaleb(_DECIMAL[suffix])
    return number.scaleb(int(suffix[1:])) if suffix else number


def is_quantity(text: str) -> bool:
    """Whether it is an amount above zero, without a sign."""
    return not text.startswith("+") and (amount(text) or 0) > 0
