"""JobSet, Kueue and kwok as processes: what they are told, and how it is known that they act."""

import pytest
from fakes.api import ScriptedApi, status_error

from testbed import jobset, kueue, kwok
from testbed.build import Build
from testbed.pki import Authority

PORTS = {
    name: number for number, name in enumerate([*jobset.PORTS, *kueue.PORTS, *kwok.PORTS], start=1)
}  # fmt: skip


@pytest.mark.parametrize(
    ("gates", "written"),
    [({}, None), ({"RestartJob": True}, {"RestartJob": True}), ({"A": False}, {"A": False})],
)
def test_gates_are_written_only_where_there_are_some(gates, written):
    configuration = jobset.configuration(PORTS, gates)
    assert configuration.get("featureGates") == written
    assert configuration["webhook"] == {"host": "127.0.0.1", "port": PORTS["jobset-webhook"]}
    assert configuration["health"]["healthProbeBindAddress"].endswith(f":{PORTS['jobset-health']}")


DEFAULTED = {"spec": {"network": {"enableDNSHostnames": True}}}
REFUSED = status_error(403, "Forbidden", 'admission webhook "vjobset.kb.io" denied the request: too long')


@pytest.mark.parametrize(
    ("answers", "acts"),
    [
        ([DEFAULTED, REFUSED], True),
        ([{"spec": {}}, REFUSED], False),
        ([DEFAULTED, DEFAULTED], False),
        ([DEFAULTED, status_error(500, "InternalError", "connection refused")], False),
        ([status_error(500, "InternalError", "failed calling webhook")], False),
    ],
)
def test_jobset_admits_when_both_webhooks_act(answers, acts):
    api = ScriptedApi(*answers)
    assert jobset.admits(api) == acts
    assert {call.query["dryRun"] for call in api.calls} == {"All"}


def test_certificates_lie_where_servers_look(tmp_path):
    pair = Authority(tmp_path, "ca").server("server")
    jobset.serve_with(pair, tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "tls.crt").read_bytes() == pair.certificate.read_bytes()
    assert (tmp_path / "a" / "b" / "tls.key").read_bytes() == pair.key.read_bytes()


def test_kueue_serves_on_its_ports_only_what_we_use():
    configuration = kueue.configuration(PORTS, "/certs")
    assert configuration["integrations"]["frameworks"] == ["batch/job", "jobset.x-k8s.io/jobset"]
    assert configuration["webhook"]["certDir"] == "/certs"
    assert configuration["visibilityServer"]["bindPort"] == PORTS["kueue-visibility"]


def test_the_visibility_api_leads_to_loopback():
    service, api_service = kueue.visibility(1234)
    assert service["spec"]["externalName"] == "localhost"
    assert api_service["metadata"]["name"] == "v1beta2.visibility.kueue.x-k8s.io"
    assert api_service["spec"]["service"]["port"] == service["spec"]["ports"][0]["port"] == 1234


def test_kwok_gets_its_own_stages_as_one_stream(tmp_path):
    for name in kwok.STAGES:
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"name: {path.stem}")
    assert kwok.stages(Build(tmp_path)).split("\n---\n") == [
        "name: node-initialize",
        "name: pod-ready",
        "name: pod-delete",
    ]
