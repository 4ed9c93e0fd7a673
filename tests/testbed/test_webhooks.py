import json

import pytest
from fakes.api import ScriptedApi

from testbed import webhooks


def configuration(*paths, kind="ValidatingWebhookConfiguration"):
    hooks = [
        {
            "name": f"v{number}.kb.io",
            "clientConfig": {"service": {"name": "webhook-service", "namespace": "system", "path": path}},
            "rules": [{"resources": ["pods" if "pod" in path else "jobsets"]}],
        }
        for number, path in enumerate(paths)
    ]
    return {"kind": kind, "metadata": {"name": "validating-webhook-configuration"}, "webhooks": hooks}


def test_services_become_urls():
    placed = webhooks.by_url(configuration("/validate-jobset", "/validate--v1-pod"), "jobset", "https://h:1", "Q0E=")
    assert placed["metadata"]["name"] == "jobset-validating-webhook-configuration"
    assert [hook["clientConfig"] for hook in placed["webhooks"]] == [
        {"url": "https://h:1/validate-jobset", "caBundle": "Q0E="},
        {"url": "https://h:1/validate--v1-pod", "caBundle": "Q0E="},
    ]


def test_only_the_webhooks_of_these_paths_are_kept():
    found = configuration("/validate-jobset-x", "/validate--v1-pod", "/validate-batch-v1-job")
    placed = webhooks.by_url(found, "kueue", "https://h:1", "", ("jobset", "-batch-v1-job"))
    assert [hook["name"] for hook in placed["webhooks"]] == ["v0.kb.io", "v2.kb.io"]


def test_only_labelled_objects_reach_the_webhook_of_that_resource():
    found = webhooks.only_labelled(configuration("/validate-jobset", "/validate--v1-pod"), "a/b", "pods")
    selectors = [hook.get("objectSelector") for hook in found["webhooks"]]
    assert selectors == [None, {"matchExpressions": [{"key": "a/b", "operator": "Exists"}]}]


def test_nothing_that_came_in_is_changed():
    found = configuration("/validate--v1-pod")
    before = json.dumps(found)
    webhooks.only_labelled(found, "a/b", "pods")
    webhooks.by_url(found, "x", "https://h:1", "")
    assert json.dumps(found) == before


def test_a_crd_gets_a_conversion():
    crd = {"metadata": {"name": "a.b"}, "spec": {"group": "b", "versions": []}}
    conversion = webhooks.converted_by(crd, "https://h:1/convert", "Q0E=")["spec"]["conversion"]
    assert conversion == {
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://h:1/convert", "caBundle": "Q0E="},
        },
    }
    assert "conversion" not in crd["spec"]


def test_documents_are_read_in_order_without_empty_ones(tmp_path):
    (tmp_path / "a.yaml").write_text("---\nkind: A\n---\n---\nkind: B\n")
    (tmp_path / "b.yaml").write_text("kind: C\n")
    found = webhooks.documents(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert [each["kind"] for each in found] == ["A", "B", "C"]


def test_configurations_are_applied_by_the_server():
    api = ScriptedApi({}, {})
    found = [configuration("/a"), configuration("/b", kind="MutatingWebhookConfiguration")]
    webhooks.apply_configurations(api, found)
    root = "/apis/admissionregistration.k8s.io/v1"
    assert [(call.method, call.path, call.query) for call in api.calls] == [
        (
            "PATCH",
            f"{root}/{plural}/validating-webhook-configuration",
            {"fieldManager": "testbed", "force": "true"},
        )
        for plural in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
    ]
    assert [call.body for call in api.calls] == found


ESTABLISHED = {"status": {"conditions": [{"type": "Established", "status": "True"}]}}


@pytest.mark.parametrize(
    ("crds", "done"),
    [
        ([ESTABLISHED, ESTABLISHED], True),
        ([ESTABLISHED, {"status": {"conditions": None}}], False),
        ([{}], False),
        ([{"status": {"conditions": [{"type": "Established", "status": "False"}]}}], False),
        ([{"status": {"conditions": [{"type": "NamesAccepted", "status": "True"}]}}], False),
    ],
)
def test_a_crd_is_served_once_it_is_established(crds, done):
    assert webhooks.established(ScriptedApi(*crds), [str(number) for number in range(len(crds))]) == done
