"""A kubeconfig whose entries hold what client-go would not take is told, never stumbled over."""

import json

import pytest

from xlaunch.cluster import kubeconfig
from xlaunch.core.errors import XlaunchError


def user(body):
    return {"users": [{"name": "x", "user": body}]}


def context(body):
    return {"contexts": [{"name": "x", "context": body}]}


ENTRIES = {
    "a section of another type": {"clusters": {"a": "b"}},
    "an entry that is empty": {"clusters": [None]},
    "an entry that is text": {"users": ["abc"]},
    "a name that is a list": {"contexts": [{"name": ["a"], "context": {}}]},
    "a current context that is a list": {"current-context": ["x"]},
    "a cluster that is text": {"clusters": [{"name": "x", "cluster": "abc"}]},
    "a server that is a number": {"clusters": [{"name": "x", "cluster": {"server": 5}}]},
    "an authority that is a list": {"clusters": [{"name": "x", "cluster": {"certificate-authority": ["f"]}}]},
    "an authority's data that is a number": {"clusters": [{"name": "x", "cluster": {"certificate-authority-data": 5}}]},
    "a proxy that is a number": {"clusters": [{"name": "x", "cluster": {"proxy-url": 5}}]},
    "a user that is a list": {"users": [{"name": "x", "user": [1]}]},
    "a token that is a number": {"users": [{"name": "x", "user": {"token": 1234567}}]},
    "a password that is a number": {"users": [{"name": "x", "user": {"username": "u", "password": 1234567}}]},
    "a file of a token that is a number": {"users": [{"name": "x", "user": {"tokenFile": 5}}]},
    "an impersonation of a list": {"users": [{"name": "x", "user": {"as": ["a"]}}]},
    "a plugin that is text": {"users": [{"name": "x", "user": {"exec": "abc"}}]},
    "a plugin without a command": {"users": [{"name": "x", "user": {"exec": {}}}]},
    "a plugin whose command is a list": {"users": [{"name": "x", "user": {"exec": {"command": ["a"]}}}]},
    "a plugin whose args are text": {"users": [{"name": "x", "user": {"exec": {"command": "a", "args": "b c"}}}]},
    "a plugin whose args are numbers": {"users": [{"name": "x", "user": {"exec": {"command": "a", "args": [1]}}}]},
    "a plugin whose env is text": {"users": [{"name": "x", "user": {"exec": {"command": "a", "env": "b"}}}]},
    "a plugin whose env has no value": user({"exec": {"command": "a", "env": [{"name": "A"}]}}),
    "a context that is text": {"contexts": [{"name": "x", "context": "abc"}]},
    "a context of a list of clusters": {"contexts": [{"name": "x", "context": {"cluster": ["c"]}}]},
    "a context with a list of users": {"contexts": [{"name": "x", "context": {"cluster": "c", "user": ["u"]}}]},
    "a context with a list of namespaces": context({"cluster": "c", "namespace": ["n"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_of_another_type_is_told_without_its_value(tmp_path, name):
    path = tmp_path / "config"
    path.write_text(json.dumps(ENTRIES[name]))
    with pytest.raises(XlaunchError, match="is no kubeconfig") as caught:
        kubeconfig.load([path])
    assert caught.value.why
    assert caught.value.next
    assert "1234567" not in caught.value.why
