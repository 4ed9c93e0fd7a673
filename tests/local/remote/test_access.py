"""Reading a kubeconfig for the node agent: every kind of login, and a sentence for what cannot be used."""

import base64
import json
from pathlib import Path

import pytest
from fakes.certificates import Authority

from xlaunch.core.errors import UsageError
from xlaunch.local.remote.access import load

SERVER = "https://127.0.0.1:6443"


def kubeconfig(directory, user=None, cluster=None, **more):
    body = {
        "clusters": [{"name": "c", "cluster": {"server": f"{SERVER}/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "one",
        **more,
    }
    path = directory / "config"
    path.write_text(json.dumps(body))
    return path


def test_a_token(tmp_path):
    found = load(kubeconfig(tmp_path, {"token": "t"}))
    assert (found.server, found.headers()) == (SERVER, {"Authorization": "Bearer t"})


def test_a_file_with_a_token_lies_beside_the_kubeconfig(tmp_path):
    (tmp_path / "t").write_text("abc\n")
    assert load(kubeconfig(tmp_path, {"tokenFile": "t"})).headers() == {"Authorization": "Bearer abc"}


@pytest.mark.parametrize("inline", [True, False])
def test_a_client_certificate(tmp_path, inline):
    certificate, key = map(Path, Authority(tmp_path).issue("me"))
    ca = tmp_path / "ca.crt"
    parts = {"client-certificate": certificate, "client-key": key, "certificate-authority": ca}

    def given(field):
        if inline:
            return {f"{field}-data": base64.b64encode(parts[field].read_bytes()).decode()}
        return {field: parts[field].name}

    user = given("client-certificate") | given("client-key")
    found = load(kubeconfig(tmp_path, user, given("certificate-authority")))
    assert (found.certificate, found.key) == (certificate.read_bytes(), key.read_bytes())
    assert found.authority == ca.read_bytes()
    assert found.headers() == {}
    assert len(found.tls().get_ca_certs()) == 1


def test_another_context(tmp_path):
    more = [{"name": "one", "context": {}}, {"name": "two", "context": {"cluster": "c", "user": "u"}}]
    assert load(kubeconfig(tmp_path, {"token": "t"}, contexts=more), "two").token == "t"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"user": {"exec": {"command": "gke"}}}, "cannot log in by exec"),
        ({"user": {"username": "me"}}, "cannot log in by username"),
        ({"current-context": "none"}, "has no context 'none'"),
        ({"users": []}, "has no user 'u'"),
        ({"cluster": {"server": ""}}, "names no server"),
        ({"cluster": {"certificate-authority": "gone"}}, "certificate-authority of the kubeconfig"),
        ({"user": {"client-key-data": "%"}}, "is no base64"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path, fields, sentence):
    with pytest.raises(UsageError) as refused:
        load(kubeconfig(tmp_path, **fields))
    assert sentence in refused.value.message


@pytest.mark.parametrize(("text", "sentence"), [("[", "is no YAML"), ("- a", "holds no object"), (None, "be read")])
def test_what_is_no_kubeconfig_is_said(tmp_path, text, sentence):
    path = tmp_path / "config"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError) as refused:
        load(path)
    assert sentence in refused.value.message
