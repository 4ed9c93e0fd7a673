import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.core.errors import UsageError
from xlaunch.core.render import as_yaml, parse, render

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=8,
)


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_any_value_is_one_yaml_value(value):
    assert parse(f"x: {as_yaml(value)}\n", "it") == {"x": value}
    assert parse(f"x: [{as_yaml(value)}, {as_yaml(value)}]\n", "it") == {"x": [value, value]}


@given(TEXT, TEXT)
@settings(deadline=None)
def test_a_value_never_becomes_template_or_yaml(first, second):
    text = render("a: {{ a }}\n{% for b in bs %}\n- {{ '--x=' ~ b }}\n{% endfor %}\n", {"a": first, "bs": []})
    assert parse(text, "it") == {"a": first}
    text = render("a:\n{% for b in bs %}\n- {{ '--x=' ~ b }}\n{% endfor %}\n", {"bs": [first, second]})
    assert parse(text, "it") == {"a": [f"--x={first}", f"--x={second}"]}


def test_text_of_the_template_is_left_alone():
    assert render("a: {b: '{{ 1 }}'}\n# {{ x }}\n", {"x": "é"}) == "a: {b: '1'}\n# \"\\U000000e9\"\n"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("a: {{ nowhere }}", "'nowhere' is undefined"),
        ("a: {{ main.nowhere }}", "nowhere"),
        ("a: {{ main", "line 1"),
        ("{% for %}", "line 1"),
        ("\n\n{% nothing %}", "line 3"),
        ("{% include 'other' %}", "no loader"),
        ("a: {{ 1 / 0 }}", "ZeroDivisionError"),
        ("a: {{ main.__class__.__mro__ }}", "unsafe"),
        ("a: {{ main + 1 }}", "TypeError"),
        ("a: {{ main.update({}) }}", "unsafe"),
    ],
)
def test_a_template_that_can_not_be_rendered(template, said):
    with pytest.raises(UsageError, match="can't be rendered") as error:
        render(template, {"main": {"name": "x"}})
    assert said in error.value.why
    assert error.value.next


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: b: c", "at line 1"),
        ("a:\n\t- b", "at line 2"),
        ("- a", "not a mapping"),
        ("", "not a mapping"),
        ("a: !!python/object:os.system {}", "not valid YAML"),
        ("a: &x [*x]\n--- \nb: 1", "not valid YAML"),
        ("a: \x01", "not valid YAML"),
        ("[" * 5000, "not valid YAML"),
    ],
)
def test_what_is_no_mapping(text, said):
    with pytest.raises(UsageError, match="The thing") as error:
        parse(text, "The thing")
    assert said in error.value.message
