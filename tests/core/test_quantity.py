import pytest

from xlaunch.core import quantity


@pytest.mark.parametrize("text", ["1", "24", "0.5", "500m", "100G", "64Gi", "1e3", "1E2", ".5", "1.", "2k", "1Ei"])
def test_quantities(text):
    assert quantity.is_quantity(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "1 G", "lots", "1GB", "1gi", "0.0", "+1", "1e", "1Ki2", "٣", "NaN"])
def test_what_is_no_quantity(text):
    assert not quantity.is_quantity(text)
