import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.errors import UsageError
from xlaunch.core.words import check_text, shell_words

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(TEXT))
def test_words_come_back_from_a_shell_line(words):
    assert shell_words("--x", shlex.join(words)) == tuple(words)


@pytest.mark.parametrize("text", ["'open", '"open', "a\\"])
def test_unbalanced_words_are_refused(text):
    with pytest.raises(UsageError, match="--x can't be split"):
        shell_words("--x", text)


@pytest.mark.parametrize("text", ["a\0b", "\udcff"])
def test_what_no_manifest_can_hold(text):
    with pytest.raises(UsageError, match="The value"):
        check_text("the value", text)
