import asyncio
import re
from pathlib import Path

import pytest

from xlaunch.local.node.env import Addresses
from xlaunch.local.node.launch import CreateError, Site, invocation
from xlaunch.local.node.volumes import make_volumes, not_emulated

from .fakes import container, pod

WHERE = Addresses("127.77.128.1", "127.77.0.1")
ENVIRON = {"PATH": "/bin", "HOME": "/root", "GOOGLE_APPLICATION_CREDENTIALS": "/key.json", "LANG": "C.UTF-8"}


def launched(directory, spec, stand_in=lambda container: None, **fields):
    site = Site(directory, 77, 0.1, stand_in, Path("/shims"), ENVIRON)
    body = pod(spec, **fields)
    body["metadata"]["uid"] = "u1"
    volumes = make_volumes(body, site.pod("u1") / "volumes")

    async def read(resource, name):
        return None

    made = invocation(spec, body, WHERE, read, site, hosts=Path("/hosts/default"), volumes=volumes)
    return asyncio.run(made)


def test_argv_is_expanded_by_the_environment(tmp_path):
    spec = container(command=None, env=[{"name": "A", "value": "a b"}])
    spec |= {"command": ["run", "$(A)"], "args": ["$$(A)", "$(NONE)", "$A"]}
    assert launched(tmp_path, spec).argv == ["run", "a b", "$(A)", "$(NONE)", "$A"]


@pytest.mark.parametrize(("network", "told"), [(127, "127.77.128.1"), (10, "10.77.128.1")])
def test_pod_addresses_are_reported_in_a_network_that_the_api_server_takes(tmp_path, network, told):
    site = Site(tmp_path, 77, 1.0, lambda container: None, Path("/shims"), ENVIRON, network)
    assert site.reported(WHERE.pod) == told


def test_a_stand_in_sees_expanded_args(tmp_path):
    spec = container(env=[{"name": "A", "value": "x"}], args=["--to=$(A)"])
    del spec["command"]
    made = launched(tmp_path, spec, stand_in=lambda given: ["stand-in", *given["args"]])
    assert made.argv == ["stand-in", "--to=x"]


def test_an_image_without_a_command(tmp_path):
    spec = container()
    del spec["command"]
    with pytest.raises(CreateError, match=r'image "example\.com/image" is not run here'):
        launched(tmp_path, spec)


def test_the_environment_has_no_credentials_of_the_user(tmp_path):
    env = launched(tmp_path, container()).env
    assert env["PATH"] == "/bin"
    assert env["LANG"] == "C.UTF-8"
    assert "GOOGLE_APPLICATION_CREDENTIALS" not in env
    assert env["HOME"] == str(tmp_path / "pods" / "u1" / "containers" / "main")


def test_what_the_stand_ins_need(tmp_path):
    env = launched(tmp_path, container(env=[{"name": "PYTHONPATH", "value": "/own"}])).env
    assert env["XLAUNCH_POD_IP"] == "127.77.128.1"
    assert env["XLAUNCH_HOSTS"] == "/hosts/default"
    assert env["XLAUNCH_TIME_SCALE"] == "0.1"
    assert env["XLAUNCH_BUCKETS"] == str(tmp_path / "buckets")
    assert env["PYTHONPATH"] == "/shims:/own"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "p"),
        ({"hostname": "js-worker-0-1"}, "js-worker-0-1"),
        ({"hostname": "js-worker-0-1", "hostNetwork": True}, "cpu-np-0"),
    ],
)
def test_hostname(tmp_path, fields, expected):
    assert launched(tmp_path, container(), **fields).env["HOSTNAME"] == expected


def test_a_user_may_set_what_we_set(tmp_path):
    made = launched(tmp_path, container(env=[{"name": "TZ", "value": "CET"}, {"name": "HOME", "value": "/h"}]))
    assert (made.env["TZ"], made.env["HOME"]) == ("CET", "/h")


def test_tmp_is_the_volume_mounted_there(tmp_path):
    spec = container(volumeMounts=[{"name": "scratch", "mountPath": "/tmp"}])
    made = launched(tmp_path, spec, volumes=[{"name": "scratch", "emptyDir": {}}])
    assert made.env["TMPDIR"] == str(tmp_path / "pods" / "u1" / "volumes" / "scratch")
    assert Path(made.env["TMPDIR"]).is_dir()


def test_tmp_is_the_container_s_own_otherwise(tmp_path):
    made = launched(tmp_path, container())
    assert made.env["TMPDIR"] == str(tmp_path / "pods" / "u1" / "containers" / "main" / "tmp")
    assert Path(made.env["TMPDIR"]).is_dir()


def test_a_restarted_container_finds_none_of_its_files(tmp_path):
    first = launched(tmp_path, container())
    (first.cwd / "file").write_text("x")
    second = launched(tmp_path, container())
    assert list(second.cwd.iterdir()) == [second.cwd / "tmp"]


def test_working_directory(tmp_path):
    assert launched(tmp_path, container(workingDir=str(tmp_path))).cwd == tmp_path
    assert launched(tmp_path, container()).cwd == tmp_path / "pods" / "u1" / "containers" / "main"
    with pytest.raises(CreateError, match=re.escape('workingDir "/no/such" does not exist on this machine')):
        launched(tmp_path, container(workingDir="/no/such"))


MOUNTS = [
    ({"emptyDir": {}}, "/tmp", ""),
    ({"emptyDir": {}}, "/tmp/", ""),
    ({"emptyDir": {}}, "/data", "nothing is mounted at /data, since it is a process of this machine; volume v is "),
    ({"hostPath": {"path": "/tmp"}}, "/tmp", ""),
    ({"hostPath": {"path": "/mnt/disk"}}, "/mnt/disk", ""),
    ({"hostPath": {"path": "/mnt/disk"}}, "/other", "volume v is /mnt/disk"),
    ({"configMap": {"name": "c"}}, "/etc/c", "volume v is of a kind that the embedded cluster does not have"),
    ({"projected": {}}, "/var/run/secrets/kubernetes.io/serviceaccount", ""),  # the API server's own idea
]


@pytest.mark.parametrize(("volume", "path", "sentence"), MOUNTS)
def test_mounts_that_cannot_be_honoured_are_said(tmp_path, volume, path, sentence):
    body = pod(container(volumeMounts=[{"name": "v", "mountPath": path}]), volumes=[{"name": "v", **volume}])
    said = list(not_emulated(body, make_volumes(body, tmp_path)))
    assert len(said) == bool(sentence)
    assert sentence in "".join(said)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"livenessProbe": {}}, []),
        ({"livenessProbe": {"exec": {}}}, ["livenessProbe is not run"]),
        ({"startupProbe": {"exec": {}}, "readinessProbe": {"exec": {}}}, ["startupProbe", "readinessProbe"]),
        ({"lifecycle": {"preStop": {}}}, ["preStop hook is not run"]),
    ],
)
def test_probes_and_hooks_are_said(fields, words):
    said = list(not_emulated(pod(container(**fields)), {}))
    assert len(said) == len(words)
    assert all(word in sentence for word, sentence in zip(words, said, strict=True))
