"""Kubeconfig files as kubectl reads them: merged, with every way to log in, and never written."""

import base64
import json
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fakes.certificates import Authority
from fakes.server import Answer, Server, proxy

from xlaunch.cluster import kubeconfig
from xlaunch.cluster.kubeapi import KubeApi
from xlaunch.core.errors import NetworkError, NotFoundError, UsageError, XlaunchError


def open_api(*paths, context=""):
    config = kubeconfig.load(list(paths))
    name, _ = config.context(context)
    return KubeApi(kubeconfig.login(config, name))


def whoami(*paths, context=""):
    """The Authorization header that arrives at the server of these files."""
    return open_api(*paths, context=context).request("GET", "/whoami").body


def echo(request):
    return request.headers.get("authorization", "nobody")


def encoded(path):
    return base64.b64encode(Path(path).read_bytes()).decode()


# --- which files, and how they merge ---


def test_the_files_that_count(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    home = tmp_path / ".kube" / "config"
    for path in (one, two, home):
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    env = {"HOME": str(tmp_path), "KUBECONFIG": f"{one}::{tmp_path / 'missing'}:{two}"}
    assert kubeconfig.files(env) == [one, two]
    assert kubeconfig.files(env, str(two)) == [two]
    assert kubeconfig.files({"HOME": str(tmp_path)}) == [home]
    assert kubeconfig.files({"HOME": str(tmp_path), "KUBECONFIG": ""}) == [home]
    assert kubeconfig.files({"HOME": str(tmp_path / "none")}) == []


def test_a_given_file_must_be_there():
    with pytest.raises(NotFoundError, match="no kubeconfig /no/such"):
        kubeconfig.files({}, "/no/such")


def test_the_first_file_wins(write):
    first = write("a/config", server="http://first", name="x", current="x", namespace="one")
    second = write("b/config", server="http://second", name="x", current="y", namespace="two")
    merged = kubeconfig.load([first, second])
    assert merged.clusters["x"]["server"] == "http://first"
    assert merged.current == "x"
    assert merged.context()[1]["namespace"] == "one"


def test_contexts_of_all_files_are_there(write):
    merged = kubeconfig.load([write("a", name="x"), write("b", name="y", current="")])
    assert set(merged.contexts) == {"x", "y"}
    assert merged.context("y")[0] == "y"


@pytest.mark.parametrize("content", ["", "\n# nothing\n", "apiVersion: v1\nkind: Config\nclusters: null\ncontexts:\n"])
def test_files_that_hold_nothing_are_fine(write, tmp_path, content):
    empty = tmp_path / "empty"
    empty.write_text(content)
    assert kubeconfig.load([empty, write("real", name="x")]).current == "x"


@pytest.mark.parametrize(("content", "said"), [("a: [", "is no YAML"), ("just text", "is no kubeconfig")])
def test_files_that_are_none_are_named(tmp_path, content, said):
    path = tmp_path / "broken"
    path.write_text(content)
    with pytest.raises(XlaunchError, match=said) as caught:
        kubeconfig.load([path])
    assert str(path) in caught.value.message


def test_broken_yaml_is_told_without_what_stands_there(tmp_path):
    path = tmp_path / "config"
    path.write_text("users:\n- name: x\n  user: {token: hf_secret, a: b: c}\n")
    with pytest.raises(XlaunchError, match="is no YAML") as caught:
        kubeconfig.load([path])
    assert "line 3" in caught.value.why
    assert "hf_secret" not in caught.value.why


def test_an_unknown_context_names_the_others(write):
    with pytest.raises(NotFoundError) as caught:
        kubeconfig.load([write(name="x")]).context("nope")
    assert (caught.value.code, caught.value.why) == (3, "There are: x")


def test_no_current_context(write):
    with pytest.raises(NotFoundError, match="No context is chosen"):
        kubeconfig.load([write(current="")]).context()


def test_a_context_of_a_missing_cluster(write, tmp_path):
    path = write(name="x")
    path.write_text(path.read_text().replace('"cluster": "x"', '"cluster": "gone"'))
    with pytest.raises(NotFoundError, match="'gone'"):
        open_api(path)


@pytest.mark.parametrize("server", ["not a url", "https://a..b", "https://[::1", "ftp://x", "https://x:port", "x", ""])
def test_a_server_that_is_no_url_is_told(write, server):
    with pytest.raises(XlaunchError) as caught:
        whoami(write(server=server))
    assert caught.value.code == 1
    assert caught.value.why


# --- ways to log in ---


def test_a_token_a_password_and_nobody(write):
    with Server(echo) as server:
        assert whoami(write("a", server=server.url, user={"token": "abc"})) == "Bearer abc"
        basic = whoami(write("b", server=server.url, user={"username": "u", "password": "p"}))
        assert basic == "Basic " + base64.b64encode(b"u:p").decode()
        assert whoami(write("c", server=server.url)) == "nobody"


def test_a_token_file_is_relative_to_its_kubeconfig_and_read_again(write, tmp_path):
    (tmp_path / "deep").mkdir()
    token = tmp_path / "deep" / "token"
    token.write_text("old")

    def answer(request):
        if echo(request) == "Bearer old":
            token.write_text("new")
            return Answer(401, {})
        return echo(request)

    with Server(answer) as server:
        path = write("deep/config", server=server.url, user={"tokenFile": "token"})
        assert whoami(path) == "Bearer new"


def test_a_plugin_gives_a_token(write, plugin):
    user, runs = plugin({"token": "env:WHO"})
    user["exec"]["env"] = [{"name": "WHO", "value": "from-env"}]
    with Server(echo) as server:
        api = open_api(write(server=server.url, user=user))
        assert api.request("GET", "/").body == "Bearer from-env"
        assert api.request("GET", "/").body == "Bearer from-env"
    assert runs.read_text() == "1"


def test_a_plugin_runs_again_when_its_token_expires(write, plugin):
    soon = (datetime.now(UTC) + timedelta(seconds=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    later = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    user, runs = plugin({"token": "a", "expirationTimestamp": soon}, {"token": "b", "expirationTimestamp": later})
    with Server(echo) as server:
        api = open_api(write(server=server.url, user=user))
        assert [api.request("GET", "/").body for _ in range(3)] == ["Bearer b"] * 3
    assert runs.read_text() == "2"


def test_a_plugin_runs_again_after_a_401(write, plugin):
    user, runs = plugin({"token": "revoked"}, {"token": "fresh"})
    with Server(lambda request: Answer(401, {}) if "revoked" in echo(request) else echo(request)) as server:
        assert whoami(write(server=server.url, user=user)) == "Bearer fresh"
    assert runs.read_text() == "2"


def test_a_plugin_is_told_about_the_cluster_if_it_wants(write, plugin):
    user, _ = plugin({"token": "env:KUBERNETES_EXEC_INFO"})
    user["exec"]["provideClusterInfo"] = True
    with Server(echo) as server:
        told = json.loads(whoami(write(server=server.url, user=user)).removeprefix("Bearer "))
    assert told["spec"]["cluster"]["server"] == server.url


def test_a_plugin_is_relative_to_its_kubeconfig(write, plugin, tmp_path):
    user, _ = plugin({"token": "t"}, directory=tmp_path / "sub")
    user["exec"]["command"] = "./plugin"
    with Server(echo) as server:
        assert whoami(write("sub/config", server=server.url, user=user)) == "Bearer t"


def test_a_plugin_that_fails_stops_everything(write, plugin):
    """Going on without credentials, as the official loader does, would act as somebody else."""
    user, _ = plugin({})
    user["exec"]["command"] = "/bin/sh"
    user["exec"]["args"] = ["-c", "echo no login today >&2; exit 3"]
    with pytest.raises(XlaunchError) as caught:
        open_api(write(server="http://127.0.0.1:1", user=user))
    assert "no login today" in caught.value.why
    assert caught.value.next == "Run it by hand: " + shlex.join(["/bin/sh", *user["exec"]["args"]])


def test_a_plugin_that_is_not_installed_says_how_to_get_it(write):
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "gke-gcloud-auth-plugin-missing",
            "installHint": "Install it with gcloud components install",
        }
    }
    with pytest.raises(XlaunchError) as caught:
        open_api(write(server="http://127.0.0.1:1", user=user))
    assert caught.value.why == "Install it with gcloud components install"


def test_a_plugin_that_prints_rubbish(write):
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "echo", "args": ["hello"]}}
    with pytest.raises(XlaunchError, match="The credential plugin echo failed"):
        open_api(write(server="http://127.0.0.1:1", user=user))


@pytest.mark.parametrize(
    "printed",
    ["null", "5", "[]", "{}", "<html>", "\\0377",
     *(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})
       for status in ("abc", 5, {"token": 5}, {"clientCertificateData": 5}, {"token": "t", "expirationTimestamp": 5}))],
)  # fmt: skip
def test_a_plugin_that_prints_what_is_no_credential(write, printed):
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "printf", "args": ["%b", printed]}}
    with pytest.raises(XlaunchError, match="The credential plugin printf failed") as caught:
        open_api(write(server="http://127.0.0.1:1", user=user))
    assert caught.value.next.startswith("Run it by hand")


@pytest.mark.parametrize("user", [{"token": "secret\n"}, {"token": "secret\u2026"}, {"as": "secret\r\nA: b"}])
def test_a_credential_that_no_header_can_hold_is_refused_without_it(write, user):
    with pytest.raises(XlaunchError, match="can't be sent") as caught:
        open_api(write(server="http://127.0.0.1:1", user=user))
    assert "secret" not in f"{caught.value.message} {caught.value.why}"
    assert caught.value.__cause__ is None


def test_a_provider_that_kubernetes_has_removed_is_refused(write):
    with pytest.raises(UsageError, match="auth-provider gcp") as caught:
        open_api(write(server="http://127.0.0.1:1", user={"auth-provider": {"name": "gcp"}}))
    assert "gke-gcloud-auth-plugin" in caught.value.next


def test_a_plugin_that_is_null_is_none(write):
    with Server(echo) as server:
        assert whoami(write(server=server.url, user={"exec": None, "token": None})) == "nobody"


def test_impersonation(write):
    with Server(lambda request: request.headers.get("Impersonate-User")) as server:
        assert whoami(write(server=server.url, user={"token": "t", "as": "alice"})) == "alice"
        with pytest.raises(UsageError, match="as-groups"):
            open_api(write(server=server.url, user={"token": "t", "as": "alice", "as-groups": ["a", "b"]}))


# --- TLS ---


@pytest.mark.parametrize("inline", [True, False], ids=["data", "file"])
def test_the_cluster_has_its_own_authority(write, authority, tmp_path, inline):
    (tmp_path / "ca.crt").write_bytes(Path(authority.ca).read_bytes())
    trust = {"certificate-authority-data": encoded(authority.ca)} if inline else {"certificate-authority": "ca.crt"}
    with Server(echo, tls=authority.server("127.0.0.1")) as server:
        assert whoami(write(server=server.url, cluster=trust)) == "nobody"


def test_an_authority_of_the_older_kind_is_trusted_as_by_kubectl(write, tmp_path):
    authority = Authority(tmp_path, strict=False)
    with Server(echo, tls=authority.server("127.0.0.1")) as server:
        trust = {"certificate-authority-data": encoded(authority.ca)}
        assert whoami(write(server=server.url, cluster=trust)) == "nobody"


def test_a_certificate_of_nobody_is_refused(write, authority):
    with Server(echo, tls=authority.server("127.0.0.1")) as server, pytest.raises(NetworkError) as caught:
        whoami(write(server=server.url))
    assert "certificate verify failed" in caught.value.why


def test_insecure_skips_the_check_and_says_nothing(write, authority, recwarn):
    with Server(echo, tls=authority.server("other.example")) as server:
        assert whoami(write(server=server.url, cluster={"insecure-skip-tls-verify": True})) == "nobody"
    assert not recwarn.list


def test_tls_server_name(write, authority):
    trust = {"certificate-authority-data": encoded(authority.ca)}
    with Server(echo, tls=authority.server("api.example")) as server:
        with pytest.raises(NetworkError):
            whoami(write("a", server=server.url, cluster=trust))
        assert whoami(write("b", server=server.url, cluster={**trust, "tls-server-name": "api.example"})) == "nobody"


@pytest.mark.parametrize("inline", [True, False], ids=["data", "file"])
def test_a_client_certificate(write, authority, inline):
    certificate, key = authority.issue("alice")
    if inline:
        user = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}
    else:
        user = {"client-certificate": certificate, "client-key": key}
    trust = {"certificate-authority-data": encoded(authority.ca)}
    with Server(echo, tls=authority.server("127.0.0.1", ask_client=True)) as server:
        whoami(write("a", server=server.url, cluster=trust, user=user))
        assert server.peers[0]["subject"] == ((("commonName", "alice"),),)
        with pytest.raises(NetworkError):
            whoami(write("b", server=server.url, cluster=trust))


def test_a_users_files_are_beside_the_users_kubeconfig(write, authority, tmp_path):
    """The official loader looks for them beside the cluster's file."""
    certificate, key = authority.issue("bob")
    (tmp_path / "users").mkdir()
    for source, target in ((certificate, "c.crt"), (key, "c.key")):
        (tmp_path / "users" / target).write_bytes(Path(source).read_bytes())
    with Server(echo, tls=authority.server("127.0.0.1", ask_client=True)) as server:
        mine = write(
            "users/config", name="main", user={"client-certificate": "c.crt", "client-key": "c.key"}, current=""
        )
        mine.write_text(mine.read_text().replace('"clusters": [', '"clusters": [], "x": ['))
        theirs = write(
            "clusters/config", server=server.url, cluster={"certificate-authority-data": encoded(authority.ca)}
        )
        whoami(mine, theirs)
        assert server.peers[0]["subject"] == ((("commonName", "bob"),),)


def test_a_plugin_gives_a_client_certificate(write, authority, plugin):
    certificate, key = authority.issue("carol")
    user, _ = plugin(
        {"clientCertificateData": Path(certificate).read_text(), "clientKeyData": Path(key).read_text(), "token": "t"}
    )
    trust = {"certificate-authority-data": encoded(authority.ca)}
    with Server(echo, tls=authority.server("127.0.0.1", ask_client=True)) as server:
        assert whoami(write(server=server.url, cluster=trust, user=user)) == "Bearer t"
        assert server.peers[0]["subject"] == ((("commonName", "carol"),),)


def test_a_missing_certificate_is_named(write):
    with pytest.raises(XlaunchError, match="cannot be used") as caught:
        open_api(write(server="https://127.0.0.1:1", cluster={"certificate-authority": "gone.crt"}))
    assert "gone.crt" in caught.value.why


# --- proxies and the environment ---


def test_proxy_url(write, authority, monkeypatch):
    """It holds whatever NO_PROXY says, as in kubectl."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server(echo, tls=authority.server("127.0.0.1")) as server, proxy() as (url, targets):
        trust = {"certificate-authority-data": encoded(authority.ca), "proxy-url": url}
        assert whoami(write(server=server.url, cluster=trust)) == "nobody"
    assert targets == [f"127.0.0.1:{server.port}"]


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy"])
def test_https_proxy(write, authority, monkeypatch, variable):
    trust = {"certificate-authority-data": encoded(authority.ca)}
    with Server(echo, tls=authority.server("127.0.0.1")) as server, proxy() as (url, targets):
        monkeypatch.setenv(variable, url)
        assert whoami(write(server=server.url, cluster=trust)) == "nobody"
    assert targets == [f"127.0.0.1:{server.port}"]


@pytest.mark.parametrize("exempt", ["127.0.0.1", "127.0.0.0/8", "*", "example.com, 127.0.0.1"])
def test_no_proxy(write, authority, monkeypatch, exempt):
    trust = {"certificate-authority-data": encoded(authority.ca)}
    with Server(echo, tls=authority.server("127.0.0.1")) as server, proxy() as (url, targets):
        monkeypatch.setenv("HTTPS_PROXY", url)
        monkeypatch.setenv("NO_PROXY", exempt)
        assert whoami(write(server=server.url, cluster=trust)) == "nobody"
    assert targets == []


def test_a_proxy_that_wants_a_password(write, authority, monkeypatch):
    trust = {"certificate-authority-data": encoded(authority.ca)}
    login = "Basic " + base64.b64encode(b"me:p@ss").decode()
    with Server(echo, tls=authority.server("127.0.0.1")) as server, proxy(login) as (url, _):
        monkeypatch.setenv("HTTPS_PROXY", url.replace("//", "//me:p%40ss@"))
        assert whoami(write("a", server=server.url, cluster=trust)) == "nobody"
        monkeypatch.setenv("HTTPS_PROXY", url.replace("//", "//me:secret@"))
        with pytest.raises(NetworkError) as caught:
            whoami(write("b", server=server.url, cluster=trust))
    assert "407" in caught.value.why
    assert "secret" not in caught.value.why


def test_a_socks_proxy_needs_a_library(write):
    cluster = {"proxy-url": "socks5://user:secret@127.0.0.1:1"}
    with pytest.raises(XlaunchError, match=r"proxy socks5://127\.0\.0\.1:1") as caught:
        whoami(write(server="https://127.0.0.1:2", cluster=cluster))
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("url", ["user:secret@proxy:1", "ftp://user:secret@proxy", "http://user:secret@proxy:99999"])
def test_a_proxy_that_is_no_url_is_told_without_its_password(write, monkeypatch, url):
    for variable, cluster in (("", {"proxy-url": url}), ("HTTPS_PROXY", {})):
        if variable:
            monkeypatch.setenv(variable, url)
        with pytest.raises(XlaunchError, match="The proxy is no URL") as caught:
            whoami(write(server="https://127.0.0.1:2", cluster=cluster))
        assert "secret" not in caught.value.why
        assert "proxy" in caught.value.why


def test_a_dead_proxy_is_told(write, authority, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with pytest.raises(NetworkError) as caught:
        whoami(write(server="https://127.0.0.1:2"))
    assert "proxy" in caught.value.why.lower()


def test_ssl_cert_file(write, authority, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", authority.ca)
    with Server(echo, tls=authority.server("127.0.0.1")) as server:
        assert whoami(write(server=server.url)) == "nobody"


def test_the_kubeconfig_is_never_written(write, plugin):
    user, _ = plugin({"token": "a"}, {"token": "b"})
    with Server(lambda request: Answer(401, {}) if echo(request) == "Bearer a" else {}) as server:
        path = write(server=server.url, user=user)
        path.chmod(0o400)
        before = path.read_bytes(), path.stat().st_mtime_ns
        whoami(path)
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before
        assert {each.name for each in path.parent.iterdir()} == {"config", "plugin", "runs"}
