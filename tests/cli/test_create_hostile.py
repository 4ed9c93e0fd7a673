"""Whatever a user types comes back from the manifest byte for byte, or is refused with a sentence."""

import json
import shlex
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.pathways import COMMAND, IMAGE, LINE, container, create, env, pod, rendered

from xlaunch.core.checks import check

CORPUS = json.loads((Path(__file__).parent.parent / "data" / "hostile_inputs.json").read_text(encoding="utf-8"))
FAST = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
# What a process argument can hold: any character but NUL and lone surrogates
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
AWKWARD = st.lists(
    st.sampled_from(["\n", "\t", '"', "'", "\\", ": ", "- ", "#", "{{", "}}", "{%", "%}", "$(X)", "$$", "😀", "é",
                     "\u2028", "\x85", "\ufeff", "\x7f", "\r", "---", "env:", " ", "0x1", "yes"]),
    max_size=12,
).map("".join)  # fmt: skip
ANY = st.one_of(TEXT, AWKWARD)


def value_of(manifest, field, value):
    """Where a field's value must be found, and what must be there."""
    main = container(manifest, "main")
    if field == "command":
        return (main["command"], main["args"]), (["bash", "-c"], [value])
    if field == "env":
        name, _, text = value.partition("=")
        assert [entry["name"] for entry in main["env"]].count(name) == 1
        return env(main)[name], text
    if field == "docker-image":
        return main["image"], value
    roles = {"proxy-server": "pathways-proxy", "server": "pathways-rm", "worker": "pathways-worker"}
    role = roles[field.removeprefix("custom-pathways-").removesuffix("-args")]
    words = shlex.split(value)
    return container(manifest, role)["args"][-len(words) :], words


@pytest.mark.parametrize("case", CORPUS, ids=[f"{case['field']}-{case['note'] or case['value']}" for case in CORPUS])
def test_the_corpus(xlaunch, case):
    flags = (f"--{case['field']}={case['value']}",)
    if case["field"] == "elastic-slices":
        flags += ("--num-slices=3",)
    done = create(xlaunch, *flags)
    if case["expect"] == "refuse":
        assert (done.code, done.stdout) == (2, "")
        first, *rest = done.stderr.splitlines()
        assert first.startswith(("Error: ", "Note: "))
        assert "Traceback" not in done.stderr
        assert rest
        return
    assert done.code == 0, done.stderr
    manifest = yaml.safe_load(done.stdout)
    check(manifest)
    found, expected = value_of(manifest, case["field"], case["value"])
    assert found == expected


@given(ANY)
@FAST
def test_any_command_line_comes_back(xlaunch, text):
    done = create(xlaunch, f"--command={text}")
    if not text.strip():
        assert done.code == 2
        return
    assert container(yaml.safe_load(done.stdout), "main")["args"] == [text]
    assert json.loads(create(xlaunch, f"--command={text}", "-o", "json").stdout) == yaml.safe_load(done.stdout)


@given(st.lists(ANY, min_size=1, max_size=5))
@FAST
def test_any_argv_comes_back(xlaunch, words):
    done = create(xlaunch, base=(*LINE, *IMAGE), rest=("--", *words))
    line_as_one_word = len(words) == 1 and len(words[0].split()) > 1
    if not words[0] or line_as_one_word:
        assert done.code == 2
        return
    main = container(yaml.safe_load(done.stdout), "main")
    assert main["command"] == words
    assert "args" not in main


@given(ANY)
@FAST
def test_any_env_value_and_annotation_come_back(xlaunch, text):
    manifest = rendered(xlaunch, f"--env=FOO={text}", f"--annotation=note={text}")
    assert env(container(manifest, "main"))["FOO"] == text
    places = [manifest, pod(manifest, "pathways-head"), pod(manifest, "worker")]
    assert [place["metadata"]["annotations"]["note"] for place in places] == [text] * 3


@given(st.lists(ANY, max_size=4))
@FAST
def test_any_pathways_argument_comes_back(xlaunch, words):
    manifest = rendered(xlaunch, f"--custom-pathways-worker-args={shlex.join(words)}")
    assert container(manifest, "pathways-worker")["args"][3:] == words


@given(ANY)
@FAST
def test_any_image_is_taken_as_it_is_or_refused(xlaunch, text):
    done = create(xlaunch, f"--docker-image={text}")
    if done.code == 0:
        assert container(yaml.safe_load(done.stdout), "main")["image"] == text
    else:
        assert (done.code, done.stdout) == (2, "")


@pytest.mark.parametrize("text", ["\udcff", "a\udc80b", "\0"])
@pytest.mark.parametrize(
    "flag", ["--command={}", "--env=A={}", "--annotation=a={}", "--custom-pathways-server-args={}", "--label=a={}",
             "--pathways-gcs-location=gs://bucket/{}", "--workload={}", "--docker-image={}", "--priority={}"],
)  # fmt: skip
def test_bytes_that_are_no_text_are_refused(xlaunch, flag, text):
    done = create(xlaunch, flag.format(text))
    assert (done.code, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_the_line_of_these_tests_is_right(xlaunch):
    assert create(xlaunch, base=(*LINE, *IMAGE, *COMMAND)).code == 0
