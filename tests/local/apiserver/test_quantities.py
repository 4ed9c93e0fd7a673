import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.quantity import amount
from xlaunch.local.apiserver.quantities import canonical


@pytest.mark.parametrize(
    ("given_text", "written"),
    [
        ("1.5Gi", "1536Mi"),
        ("1Gi", "1Gi"),
        ("1024Mi", "1Gi"),
        ("1000Mi", "1000Mi"),
        ("0.5Ki", "512"),
        ("1.1Ki", "1126400m"),
        ("0.1", "100m"),
        ("100m", "100m"),
        ("1000m", "1"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("100G", "100G"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("2E", "2E"),
        ("0", "0"),
        ("-1", "-1"),
        ("4", "4"),
        ("+4", "4"),
        (".5", "500m"),
    ],
)
def test_a_quantity_has_one_form(given_text, written):
    assert canonical(given_text) == written


@pytest.mark.parametrize("text", ["much", "", "1Zi", "1 G", "--1"])
def test_what_does_not_parse(text):
    assert canonical(text) is None


@given(st.integers(0, 10**6), st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3"]))
def test_the_form_means_the_same_and_is_its_own(number, suffix):
    form = canonical(f"{number}{suffix}")
    assert amount(form) == amount(f"{number}{suffix}")
    assert canonical(form) == form
