import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.core.errors import UsageError
from xlaunch.core.render import as_yaml, parse, render

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
# The key of a YAML mapping may have 1024 characters, escapes counted
KEY = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEY, inner, max_size=4)),
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
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"),
        ("".join(f"{{% for a{i} in [1] %}}" for i in range(30)) + "{% endfor %}" * 30, "SyntaxError"),
        ("a: {{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "RecursionError"),
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 2026-01-01", "date"),
        ("a: 2026-01-01 10:00:00", "datetime"),
        ("a: !!binary aGk=", "bytes"),
        ("a: !!set {b, c}", "set"),
        ("a: .nan", "nan"),
        ("a: [.inf]", "inf"),
        ("a: 0x" + "f" * 5000, "64 bits"),
        ("a: 9223372036854775808", "64 bits"),
        ("a: {1: b, c: d}", "1 is no name of a field"),
        ("a: {on: b}", "True is no name of a field"),
        ("a: {null: b}", "None is no name of a field"),
        ("a: &x [*x]", "nested"),
        ("a: &x {b: *x}", "nested"),
        ("a: " + "[" * 400 + "]" * 400, "nested"),
        ("\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}' if i else 'x'] * 9)}]" for i in range(12)), "aliases"),
        (r'{"a": "\ud83d"}', "half"),
        (r'{"\ud83d": 1}', "half"),
    ],
)
def test_what_json_does_not_have_is_refused(text, said):
    with pytest.raises(UsageError, match="The thing") as error:
        parse(text, "The thing")
    assert said in error.value.why


def test_what_json_has_is_taken():
    assert parse(r'{"a": "\ud83d\ude00", "b": [1, -9223372036854775808, 1.5, null, true]}', "it") == {
        "a": "😀",
        "b": [1, -(2**63), 1.5, None, True],
    }
    assert parse("a: &x {b: [c]}\nd: *x", "it") == {"a": {"b": ["c"]}, "d": {"b": ["c"]}}
