from decimal import Decimal

import pytest

from xlaunch.core import quantity


@pytest.mark.parametrize("text", ["1", "24", "0.5", "500m", "100G", "64Gi", "1e3", "1E2", ".5", "1.", "2k", "1Ei"])
def test_quantities(text):
    assert quantity.is_quantity(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "1 G", "lots", "1GB", "1gi", "0.0", "+1", "1e", "1Ki2", "٣", "NaN"])
def test_what_is_no_quantity(text):
    assert not quantity.is_quantity(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4", 4), ("500m", "0.5"), ("100G", 10**11), ("1.5Gi", 1610612736), ("1e3", 1000), ("2E", 2 * 10**18),
        ("1k", 1000), (".5", "0.5"), ("-2", -2), ("+1Ki", 1024), ("0", 0),
    ],
)  # fmt: skip
def test_amounts(text, number):
    assert quantity.amount(text) == Decimal(number)


@pytest.mark.parametrize("text", ["", "4 ", "G", "1Kb", "1e999999999"])
def test_what_is_no_amount(text):
    assert quantity.amount(text) is None
