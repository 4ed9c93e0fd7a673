"""Numbers as people read them."""

import pytest

from xlaunch.core.counts import counted, ordinal


@pytest.mark.parametrize(("number", "told"), [(0, "0 pods"), (1, "1 pod"), (2, "2 pods")])
def test_a_number_with_its_noun(number, told):
    assert counted(number, "pod") == told


@pytest.mark.parametrize(
    ("number", "told"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"), (21, "21st"),
     (111, "111th"), (122, "122nd")],
)  # fmt: skip
def test_an_ordinal(number, told):
    assert ordinal(number) == told
