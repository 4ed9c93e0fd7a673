"""The command lines of Kubernetes' own components."""

from pathlib import Path

import pytest
from fakes.api import ScriptedApi, status_error
from fakes.clock import FakeClock

from testbed import control_plane
from testbed.build import Build
from testbed.control_plane import PORTS, ControlPlane
from testbed.instance import Instance


@pytest.fixture
def instance(tmp_path):
    return Instance(tmp_path, {name: 10000 + number for number, name in enumerate(PORTS)}, FakeClock())


@pytest.fixture
def build(tmp_path):
    return Build(tmp_path / "build")


def flags(command):
    """The flags of a command line; one without a value is "true"."""
    parts = [str(each).removeprefix("--").partition("=") for each in command.argv[1:]]
    return {name: value or "true" for name, _, value in parts}


def test_everything_listens_on_loopback_only(instance, build):
    etcd = flags(control_plane.etcd(instance, build))
    urls = [value for name, value in etcd.items() if "listen" in name or "advertise" in name]
    assert urls
    assert all(url.startswith("https://127.0.0.1:") for url in urls)
    for make in (control_plane.api_server, control_plane.controller_manager, control_plane.scheduler):
        assert flags(make(instance, build))["bind-address"] == "127.0.0.1"


def test_etcd_takes_nobody_without_a_certificate(instance, build):
    etcd, server = flags(control_plane.etcd(instance, build)), flags(control_plane.api_server(instance, build))
    assert (etcd["client-cert-auth"], etcd["peer-client-cert-auth"]) == ("true", "true")
    trusted = str(instance.etcd_authority.certificate)
    assert [etcd["trusted-ca-file"], etcd["peer-trusted-ca-file"], server["etcd-cafile"]] == [trusted] * 3
    assert trusted != str(instance.authority.certificate)  # an administrator of the cluster is nobody to etcd
    assert server["etcd-certfile"] == str(instance.etcd_client.certificate)


def test_every_component_has_its_own_port(instance, build):
    makers = (control_plane.api_server, control_plane.controller_manager, control_plane.scheduler)
    ports = {flags(make(instance, build))["secure-port"] for make in makers}
    assert len(ports) == 3


def test_every_file_that_a_flag_names_is_there(instance, build):
    for make in (control_plane.api_server, control_plane.controller_manager, control_plane.scheduler):
        named = {name: value for name, value in flags(make(instance, build)).items() if value.startswith("/")}
        assert [name for name, value in named.items() if not Path(value).exists()] == []
        assert len(named) >= 4


def test_the_controllers_have_no_more_rights_than_kubeadm_gives_them(instance, build):
    kubeconfig = flags(control_plane.scheduler(instance, build))["kubeconfig"]
    assert kubeconfig != str(instance.kubeconfig)
    assert flags(control_plane.controller_manager(instance, build))["use-service-account-credentials"] == "true"


def test_arguments_go_last_and_only_to_their_component(instance, build, monkeypatch):
    started = []
    monkeypatch.setattr(instance, "start", lambda *commands: started.extend(commands))
    plane = ControlPlane(arguments={"kube-scheduler": ("--v=9",)})
    plane._run(instance, control_plane.scheduler(instance, build), control_plane.etcd(instance, build))
    assert [command.argv[-1] == "--v=9" for command in started] == [True, False]


@pytest.mark.parametrize(("answer", "there"), [({}, True), (status_error(404, "NotFound"), False)])
def test_pods_need_a_service_account(answer, there):
    api = ScriptedApi(answer)
    assert control_plane.has_service_account(api, "team") == there
    assert api.calls[0].path == "/api/v1/namespaces/team/serviceaccounts/default"
