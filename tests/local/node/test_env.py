import asyncio
import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.node.env import Addresses, ConfigError, environment, expand, field

POD = {
    "metadata": {
        "name": "p",
        "namespace": "ns",
        "uid": "u1",
        "labels": {"a": "1", "jobset.sigs.k8s.io/coordinator": "js-head-0-0.js"},
        "annotations": {"x/y": "z"},
    },
    "spec": {"nodeName": "n1", "serviceAccountName": "sa"},
}
WHERE = Addresses("127.77.128.1", "127.77.0.1")


# kubernetes, third_party/forked/golang/expansion/expand_test.go, with these variables
KNOWN = {"VAR_A": "A", "VAR_B": "B", "VAR_REF": "$(VAR_A)", "VAR_EMPTY": ""}
EXPANSIONS = [
    ("$(VAR_A)", "A"),
    ("___$(VAR_B)___", "___B___"),
    ("___$(VAR_B)", "___B"),
    ("$(VAR_A)_$(VAR_B)", "A_B"),
    ("$$(VAR_B)_$(VAR_A)", "$(VAR_B)_A"),
    ("$$(VAR_A)_$$(VAR_B)", "$(VAR_A)_$(VAR_B)"),
    ("f000-$$VAR_A", "f000-$VAR_A"),
    ("foo\\$(VAR_C)bar", "foo\\$(VAR_C)bar"),
    ("foo\\\\$(VAR_C)bar", "foo\\\\$(VAR_C)bar"),
    ("$(VAR_A$(VAR_B)", "$(VAR_A$(VAR_B)"),
    ("$(VAR_A", "$(VAR_A"),
    ("$)VAR", "$)VAR"),
    ("$$$$$$$(VAR_A)", "$$$A"),
    ("$$$$$$(VAR_A)", "$$$(VAR_A)"),
    ("$VAR_A)", "$VAR_A)"),
    ("$(VAR_REF)", "$(VAR_A)"),
    ("$(VAR_EMPTY)", ""),
    ("$(VAR_UNKNOWN)", "$(VAR_UNKNOWN)"),
    ("$()", "$()"),
    ("trailing $", "trailing $"),
    ("trailing $$", "trailing $"),
    ("\n", "\n"),
]


@pytest.mark.parametrize(("text", "expected"), EXPANSIONS)
def test_expand(text, expected):
    assert expand(text, KNOWN) == expected


@given(st.text())
def test_doubled_dollars_come_back_as_they_were(text):
    assert expand(text.replace("$", "$$"), KNOWN) == text


@given(st.text().filter(lambda text: "$" not in text))
def test_text_without_dollars_is_left_alone(text):
    assert expand(text, KNOWN) == text


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("metadata.name", "p"),
        ("metadata.namespace", "ns"),
        ("metadata.uid", "u1"),
        ("metadata.labels['jobset.sigs.k8s.io/coordinator']", "js-head-0-0.js"),
        ("metadata.labels['none']", ""),
        ("metadata.annotations['x/y']", "z"),
        ("metadata.annotations", 'x/y="z"'),
        ("spec.nodeName", "n1"),
        ("spec.serviceAccountName", "sa"),
        ("status.podIP", "127.77.128.1"),
        ("status.hostIP", "127.77.0.1"),
    ],
)
def test_field(path, expected):
    assert field(POD, path, WHERE) == expected


def test_an_unknown_field_is_refused():
    with pytest.raises(ConfigError, match=r"unsupported fieldPath: status\.phase"):
        field(POD, "status.phase", WHERE)


OBJECTS = {
    ("secrets", "s"): {"data": {"k": base64.b64encode(b"secret").decode(), "raw": base64.b64encode(b"\xff").decode()}},
    ("configmaps", "c"): {"data": {"k": "config", "not a name": "x"}},
}


def made(*entries, env_from=()):
    async def read(resource, name):
        return OBJECTS.get((resource, name))

    return asyncio.run(environment({"env": list(entries), "envFrom": list(env_from)}, POD, WHERE, read))


def test_values_see_what_came_before_them_only():
    found = made({"name": "A", "value": "$(B)"}, {"name": "B", "value": "b"}, {"name": "C", "value": "<$(B)>"})
    assert found == {"A": "$(B)", "B": "b", "C": "<b>"}


def test_the_last_of_a_name_wins():
    assert made({"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}) == {"A": "12"}


def test_references():
    found = made(
        {"name": "F", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
        {"name": "O", "valueFrom": {"secretKeyRef": {"name": "none", "key": "k", "optional": True}}},
        {"name": "ALL", "value": "$(F) $(S) $(C) $(O)"},
    )
    assert found == {"F": "p", "S": "secret", "C": "config", "ALL": "p secret config $(O)"}


def test_a_secret_that_is_no_text_reaches_the_process_unchanged():
    found = made({"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "raw"}}})
    assert found["S"].encode("utf-8", "surrogateescape") == b"\xff"


def test_env_from_takes_valid_names_and_env_wins():
    found = made({"name": "P_k", "value": "own"}, env_from=[{"prefix": "P_", "configMapRef": {"name": "c"}}])
    assert found == {"P_k": "own"}


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"secretKeyRef": {"name": "none", "key": "k"}}, 'secret "none" not found'),
        ({"configMapKeyRef": {"name": "none", "key": "k"}}, 'configmap "none" not found'),
        ({"secretKeyRef": {"name": "s", "key": "none"}}, "couldn't find key none in Secret ns/s"),
        ({"configMapKeyRef": {"name": "c", "key": "none"}}, "couldn't find key none in ConfigMap ns/c"),
        ({"resourceFieldRef": {"resource": "limits.cpu"}}, "resourceFieldRef is not emulated by the embedded cluster"),
    ],
)
def test_what_cannot_be_had_is_named(reference, message):
    with pytest.raises(ConfigError) as error:
        made({"name": "X", "valueFrom": reference})
    assert str(error.value) == message


def test_env_from_something_that_does_not_exist():
    with pytest.raises(ConfigError, match='secret "none" not found'):
        made(env_from=[{"secretRef": {"name": "none"}}])
