import io

import pytest
from dotenv import dotenv_values
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.core.env import EnvVar, collect, looks_secret, merged, parse_file, warnings
from xlaunch.core.errors import UsageError

NAMES = st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def names(variables):
    return [(each.name, each.value) for each in variables]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A=1\nB=two words", {"A": "1", "B": "two words"}),
        ("export A=1", {"A": "1"}),
        ("  A = 1  ", {"A": "1"}),
        ("# note\n\nA=1 # note", {"A": "1"}),
        ('A=\'single $X\'\nB="say \\"hi\\""', {"A": "single $X", "B": 'say "hi"'}),
        ('A="line1\nline2"', {"A": "line1\nline2"}),
        ("A=\nB=''", {"A": "", "B": ""}),
        ("A=1\nA=2", {"A": "2"}),
        ("A=$HOME/${USER}", {"A": "$HOME/${USER}"}),
        ("A=C:\\new\\table", {"A": "C:\\new\\table"}),
        ("HERE", {"HERE": "of the caller"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("", {}),
    ],
)
def test_an_env_file_is_read_as_python_dotenv_does(text, found):
    assert parse_file(text, {"HERE": "of the caller", "HOME": "never used"}) == found


@given(st.lists(st.sampled_from(["A", "B", "=", "\n", " ", "'", '"', "#", "$A", "${B}", "\\", "\\n", "export ", "x"])))
@settings(max_examples=300, deadline=None)
def test_a_file_that_is_taken_means_what_python_dotenv_says(pieces):
    text = "".join(pieces)
    try:
        found = parse_file(text, {"A": "mine", "B": "mine", "x": "mine"})
    except UsageError:
        return
    theirs = dotenv_values(stream=io.StringIO(text), interpolate=False)
    assert found == {name: "mine" if value is None else value for name, value in theirs.items()}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A=1\n???=2", "line 2"),
        ("A='open", "line 1"),
        ("NOT_SET", "NOT_SET is not set here"),
        ("1A=x", "Names are made of"),
        ("'A B'=x", "Names are made of"),
        ("A=\0", "NUL"),
        ("ODD", "value of ODD in line 1 of the env file is not valid UTF-8"),
    ],
)
def test_what_an_env_file_may_not_hold(text, said):
    with pytest.raises(UsageError) as error:
        parse_file(text, {"ODD": "\udcff"})
    assert said in f"{error.value.message} {error.value.why}"


@pytest.mark.parametrize("text", ["KEY=-----BEGIN\nhfSecret", "'hf Secret'=1", "hfSecret\n", "A=1\nhfSecret/+x"])
def test_what_may_be_a_value_without_its_name_is_not_repeated(text):
    with pytest.raises(UsageError) as error:
        parse_file(text, {})
    assert "Secret" not in f"{error.value.message} {error.value.why} {error.value.next}"
    with pytest.raises(UsageError) as error:
        collect(["hfSecret"], None, [], {})
    assert "Secret" not in f"{error.value.message} {error.value.why} {error.value.next}"


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_flags_come_back_as_typed(pairs):
    flags = [f"{name}={value}" for name, value in pairs.items()]
    assert names(collect(flags, None, [], {})) == list(pairs.items())


def test_flags_beat_the_file_and_the_last_of_a_name_wins():
    found = collect(["B=flag", "C=1", "C=2"], "A=file\nB=file", [], {})
    assert names(found) == [("A", "file"), ("B", "flag"), ("C", "2")]


def test_a_secret_beats_the_file():
    found = collect([], "A=file", ["A=s/k"], {})
    assert found == (EnvVar("A", secret="s", key="k"),)
    assert found[0].entry() == {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}


@pytest.mark.parametrize("flag", ["A", "=x", "1A=x", "A B=x", "..=x", "é=x", ""])
def test_flags_that_are_refused(flag):
    with pytest.raises(UsageError):
        collect([flag], None, [], {})


@pytest.mark.parametrize("flag", ["A", "A=s", "A=/k", "A=s/", "A=S/k", "A=s/k k", "1=s/k"])
def test_secrets_that_are_refused(flag):
    with pytest.raises(UsageError):
        collect([], None, [flag], {})


def test_a_variable_replaces_ours_in_its_place():
    ours = [{"name": "HEAD", "valueFrom": {"fieldRef": {}}}, {"name": "P", "value": "proxy"}]
    theirs = [EnvVar("NEW", "$(HEAD)"), EnvVar("HEAD", "mine"), EnvVar("Z", "")]
    assert merged(ours, theirs) == [
        {"name": "HEAD", "value": "mine"},
        {"name": "P", "value": "proxy"},
        {"name": "NEW", "value": "$(HEAD)"},
        {"name": "Z", "value": ""},
    ]
    assert ours[0] == {"name": "HEAD", "valueFrom": {"fieldRef": {}}}


@pytest.mark.parametrize(
    "name",
    [
        *("HF_TOKEN", "WANDB_API_KEY", "DB_PASSWORD", "my-secret", "AWS_SECRET_ACCESS_KEY", "TOKEN"),
        *("PGPASSWORD", "HFTOKEN", "accessToken", "clientSecret", "OPENAIAPIKEY", "MYSQL_ROOTPASSWD"),
    ],
)
def test_names_of_credentials(name):
    assert looks_secret(name)
    [line] = warnings([EnvVar(name, "hunter2")])
    assert name in line
    assert "hunter2" not in line
    assert not warnings([EnvVar(name, ""), EnvVar(name, secret="s", key="k")])


@pytest.mark.parametrize(
    "name", ["MAX_TOKENS", "TOKENIZER_PATH", "KEY", "MONKEY", "SORT_KEY", "JAX_PLATFORMS", "PASSES"]
)
def test_names_that_only_look_like_it(name):
    assert not looks_secret(name)
