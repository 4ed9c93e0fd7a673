"""Label and field selectors."""

import pytest

from xlaunch.local.apiserver.resources import BY_NAME
from xlaunch.local.apiserver.selectors import fields, labels
from xlaunch.local.kube import StatusError

X1, X2, Y, NONE = ({"app": "x", "tier": "1"}, {"app": "x", "tier": "2"}, {"app": "y", "a.b/c-d": "E_f.1"}, {})


@pytest.mark.parametrize(
    ("selector", "matching"),
    [
        ("", [X1, X2, Y, NONE]),
        ("app=x", [X1, X2]),
        ("app==x", [X1, X2]),
        (" app = x ", [X1, X2]),
        ("app!=x", [Y, NONE]),
        ("app in (x,y)", [X1, X2, Y]),
        ("app in ( x , z )", [X1, X2]),
        ("app notin (x, y)", [NONE]),
        ("tier", [X1, X2]),
        ("!tier", [Y, NONE]),
        ("! tier", [Y, NONE]),
        ("app=x,tier!=1", [X2]),
        ("tier in (1,2),app notin (y),app", [X1, X2]),
        ("a.b/c-d=E_f.1", [Y]),
        ("app=", []),
        ("app,", [X1, X2, Y]),
    ],
)
def test_label_selectors(selector, matching):
    test = labels(selector)
    assert [each for each in (X1, X2, Y, NONE) if test({"metadata": {"labels": each}})] == matching


def test_an_object_without_labels_has_none():
    assert labels("!a")({"metadata": {}})
    assert not labels("a")({"metadata": {"labels": None}})


@pytest.mark.parametrize("selector", ["a in (", "a in b", "=x", "a=b c", "a in (x) b", "-a=b", "a>3", "a b"])
def test_label_selectors_that_do_not_parse(selector):
    with pytest.raises(StatusError) as caught:
        labels(selector)
    assert (caught.value.code, caught.value.reason) == (400, "BadRequest")
    assert selector.strip() in caught.value.message


POD = {"metadata": {"name": "p", "namespace": "n"}, "spec": {"nodeName": "a"}, "status": {"phase": "Running"}}


@pytest.mark.parametrize(
    ("resource", "selector", "each", "expected"),
    [
        ("pods", "metadata.name=p", POD, True),
        ("pods", "metadata.name!=p", POD, False),
        ("pods", "status.phase==Running,spec.nodeName=a", POD, True),
        ("pods", "spec.nodeName=", {"metadata": {}, "spec": {}}, True),
        ("pods", "spec.nodeName!=", {"metadata": {}, "spec": {}}, False),
        ("pods", "spec.hostNetwork=false", POD, True),
        ("pods", "spec.hostNetwork=true", {"spec": {"hostNetwork": True}}, True),
        ("jobs", "status.successful=1", {"status": {"succeeded": 1}}, True),
        ("jobs", "status.successful=0", {}, True),
        ("nodes", "spec.unschedulable=false", {"spec": {}}, True),
        ("events", "source=kubelet", {"source": {"component": "kubelet"}}, True),
        ("events", "involvedObject.name=p,reason!=Killing", {"involvedObject": {"name": "p"}}, True),
        ("secrets", "type=Opaque", {"type": "Opaque"}, True),
    ],
)
def test_field_selectors(resource, selector, each, expected):
    assert fields(selector, BY_NAME[resource])(each) is expected


@pytest.mark.parametrize(
    ("resource", "selector", "word"),
    [
        ("pods", "spec.bogus=1", "field label not supported: spec.bogus"),
        ("jobsets", "spec.suspend=true", "field label not supported: spec.suspend"),
        ("nodes", "metadata.namespace=x", "field label not supported: metadata.namespace"),
        ("pods", "status.phase", "invalid selector"),
    ],
)
def test_field_selectors_that_are_not_offered(resource, selector, word):
    with pytest.raises(StatusError, match=word) as caught:
        fields(selector, BY_NAME[resource])
    assert caught.value.code == 400
