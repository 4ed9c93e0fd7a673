"""Quantities as the API server writes them: k8s.io/apimachinery 0.37, pkg/api/resource/quantity.go `CanonicalizeBytes`.

No fraction, and the largest suffix that loses nothing: 1.5Gi is 1536Mi, 0.1 is 100m, 1000 is 1k.
"""

from __future__ import annotations

from decimal import Decimal

from xlaunch.core.quantity import amount

_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def canonical(text: str) -> str | None:
    """The quantity in its one form; None where it does not parse."""
    number = amount(text)
    if number is None:
        return None
    if text.endswith("i") and abs(number) >= 1024 and number == int(number):
        return _binary(int(number))
    mantissa, exponent = _by_thousands(number)
    if "e" in text or "E" in text[:-1]:  # 1e3 and 1E3; a last E is the suffix for 10^18
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    return f"{mantissa}{_DECIMAL[exponent]}"


def _binary(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power + 1 < len(_BINARY):
        number, power = number // 1024, power + 1
    return f"{number}{_BINARY[power]}"


def _by_thousands(number: Decimal) -> tuple[int, int]:
    """An integer and an exponent from -9 to 18 in steps of three; what is smaller is rounded up."""
    exponent = -9
    mantissa = int((number.scaleb(9)).to_integral_value(rounding="ROUND_UP"))
    while mantissa and mantissa % 1000 == 0 and exponent < 18:
        mantissa, exponent = mantissa // 1000, exponent + 3
    return (mantissa, exponent) if mantissa else (0, 0)
