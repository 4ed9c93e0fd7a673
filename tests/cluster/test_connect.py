"""What the flags and the surroundings mean: one target, or a refusal that names the others."""

import types
from pathlib import Path

import pytest
from fakes.server import Server

from xlaunch.cluster import connect as module
from xlaunch.cluster.connect import TargetOptions, connect
from xlaunch.core.errors import NetworkError, NotFoundError, UsageError

HERE = "http://127.0.0.1:1"


def test_the_current_context(write):
    connection = connect(TargetOptions(), {"KUBECONFIG": str(write(server=HERE, name="dev", namespace="team"))})
    assert (connection.where, connection.api.namespace, connection.flags) == ("context dev", "team", ())


def test_a_named_context_and_namespace(write):
    env = {"KUBECONFIG": f"{write('a', server=HERE, name='dev')}:{write('b', server=HERE, name='prod')}"}
    connection = connect(TargetOptions(context="prod", namespace="mine"), env)
    assert (connection.where, connection.api.namespace) == ("context prod", "mine")
    assert connection.flags == ("--context=prod", "--namespace=mine")


def test_without_a_namespace_it_is_default(write):
    assert connect(TargetOptions(kubeconfig=str(write(server=HERE))), {}).api.namespace == "default"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (TargetOptions(cluster="a", context="b"), "--cluster and --context"),
        (TargetOptions(cluster="local", kubeconfig="b"), "--cluster and --kubeconfig"),
        (TargetOptions(project="a"), "--project alone"),
        (TargetOptions(location="a", context="b"), "--zone alone"),
    ],
)
def test_flags_that_contradict_each_other(options, said):
    with pytest.raises(UsageError, match=said):
        connect(options, {})


def test_an_unknown_context_does_not_fall_through(write):
    with pytest.raises(NotFoundError, match="no context other"):
        connect(TargetOptions(context="other"), {"KUBECONFIG": str(write(server=HERE))})


def test_nothing_at_all_names_the_ways(tmp_path):
    with pytest.raises(NotFoundError) as caught:
        connect(TargetOptions(), {"HOME": str(tmp_path)})
    assert "--cluster=local" in caught.value.next


def test_a_server_that_is_gone_names_the_other_contexts(write):
    env = {"KUBECONFIG": f"{write('a', server=HERE, name='dev')}:{write('b', server=HERE, name='prod')}"}
    with pytest.raises(NetworkError) as caught:
        connect(TargetOptions(), env).api.request("GET", "/version")
    assert caught.value.next.endswith("go elsewhere: --context prod, --cluster=local")


# --- in a pod ---


@pytest.fixture
def pod(tmp_path, monkeypatch, authority):
    """The credentials of a pod, and a server that is its cluster."""
    directory = tmp_path / "serviceaccount"
    directory.mkdir()
    (directory / "token").write_text("pod-token")
    (directory / "namespace").write_text("team\n")
    (directory / "ca.crt").write_bytes(Path(authority.ca).read_bytes())
    monkeypatch.setattr(module, "POD_CREDENTIALS", directory)
    with Server(lambda request: request.headers["authorization"], tls=authority.server("127.0.0.1")) as server:
        yield types.SimpleNamespace(
            directory=directory,
            env={
                "HOME": str(tmp_path),
                "KUBERNETES_SERVICE_HOST": "127.0.0.1",
                "KUBERNETES_SERVICE_PORT": str(server.port),
            },
        )


def test_a_pod_reaches_its_own_cluster(pod):
    connection = connect(TargetOptions(), pod.env)
    assert connection.api.request("GET", "/x").body == "bearer pod-token"
    assert (connection.where, connection.api.namespace) == ("the cluster of this pod", "team")


def test_in_a_pod_a_kubeconfig_that_is_named_wins(pod, write):
    env = {**pod.env, "KUBECONFIG": str(write(server=HERE, name="dev"))}
    assert connect(TargetOptions(), env).where == "context dev"


def test_outside_a_pod_its_variables_alone_mean_nothing(pod):
    (pod.directory / "token").unlink()
    with pytest.raises(NotFoundError):
        connect(TargetOptions(), pod.env)


# --- the embedded cluster ---


def embedded(kubeconfig, number="1"):
    return types.SimpleNamespace(kubeconfig=kubeconfig, id=number, title="embedded cluster ci")


@pytest.mark.parametrize(("cluster", "name"), [("local", "local"), ("local:ci", "ci"), ("local:", "local")])
def test_local_means_an_embedded_cluster(cluster, name):
    assert TargetOptions(cluster=cluster).local == name


@pytest.mark.parametrize("cluster", ["", "localhost", "my-local"])
def test_other_names_do_not(cluster):
    assert TargetOptions(cluster=cluster).local == ""


def test_local_uses_its_kubeconfig_and_no_other(write, monkeypatch):
    path = write("embedded", server=HERE, name="xlaunch-ci")
    found = []
    monkeypatch.setattr(
        "xlaunch.local.lifecycle.find",
        lambda name, env: found.append(name) or embedded(path),
    )
    connection = connect(TargetOptions(cluster="local:ci", project="p", location="z"), {"KUBECONFIG": "/nowhere"})
    assert found == ["ci"]
    assert (connection.where, connection.flags) == ("embedded cluster ci", ("--cluster=local:ci",))


@pytest.mark.parametrize(
    ("there", "error"),
    [("the same", NetworkError), ("nothing", NotFoundError), ("another of that name", NotFoundError)],
)
def test_a_local_cluster_that_has_ended_is_not_waited_for(write, monkeypatch, there, error):
    path = write("embedded", server=HERE, name="xlaunch-ci")
    runs = [embedded(path)]

    def find(name, env):
        if not runs:
            raise NotFoundError("gone")
        return runs[0]

    monkeypatch.setattr("xlaunch.local.lifecycle.find", find)
    api = connect(TargetOptions(cluster="local:ci"), {}).api
    if there != "the same":
        runs[:] = [embedded(path, "2")] if there.startswith("another") else []
    with pytest.raises(error) as caught:
        api.request("GET", "/version")
    if error is NotFoundError:
        assert caught.value.message == "The embedded cluster ci has ended, with all that ran there"
        assert caught.value.next == "xlaunch local status"


def test_a_local_cluster_that_does_not_run_is_not_found(tmp_path):
    env = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    with pytest.raises(NotFoundError) as caught:
        connect(TargetOptions(cluster="local"), env)
    assert caught.value.code == 3
    assert "xlaunch local up" in caught.value.next
