"""Which differences count as meant: a 501 only where what is refused is on a list that users can read."""

from pathlib import Path

import pytest

from differential import known
from differential.corpus import Call, creations, job, jobset, pod, service, varied
from differential.corpus_changes import changes
from differential.corpus_refused import refused
from differential.known import explained, refusable
from differential.variations import EVERY
from xlaunch.local.apiserver.requests import parse_path
from xlaunch.local.kube import StatusError

DOCUMENT = (Path(__file__).parents[2] / "docs" / "embedded-cluster-api.md").read_text(encoding="utf-8")
REFUSED = DOCUMENT.partition("### What answers 501, and why")[2].partition("\n\nA group or resource")[0]
LISTED = [
    *known.RESOURCES,
    *known.READ_ONLY,
    *known.SUBRESOURCES,
    *known.JOB_FIELDS,
    *known.POD_FIELDS,
    *known.JOBSET_FIELDS,
    *known.SERVICE_TYPES,
    *known.LOG_OPTIONS,
    "a cluster IP",
]
NOT_HERE = {"code": 501, "reason": "NotImplemented", "message": "the embedded cluster does not have it"}
FINE = {"code": 200, "warnings": []}


@pytest.mark.parametrize(
    "call",
    [
        Call("", "GET", "pods"),
        Call("", "GET", "pods/x"),
        Call("", "GET", "pods/x/log"),
        Call("", "GET", "resourcequotas"),
        Call("", "POST", "pods", pod()),
        Call("", "POST", "pods/x/eviction", {}),
        Call("", "POST", "jobs", job()),
        Call("", "POST", "jobsets", jobset()),
        Call("", "POST", "jobsets", varied(jobset(), {"spec.successPolicy": {"operator": "Any"}})),
        Call("", "PATCH", "jobs/x", {"spec": {"suspend": True}}),
        Call("", "POST", "services", service()),
        Call("", "POST", "services", varied(service(), {"spec.type": "Fancy"})),
        Call("", "DELETE", "services/x"),
        Call("", "GET", "fancies"),
        Call("", "GET", "pods/x/fancy"),
    ],
    ids=str,
)
def test_a_501_to_what_the_embedded_server_has_is_a_difference(call):
    assert explained(call, NOT_HERE, FINE) == ""


def test_a_501_to_any_ordinary_request_of_the_corpus_is_a_difference():
    calls = [*(call for plural, each in EVERY.items() for call in creations(plural, each)), *changes()]
    assert not [call.name for call in calls if explained(call, NOT_HERE, FINE)]


def test_a_501_to_what_is_on_the_list_is_none():
    assert all(explained(call, NOT_HERE, FINE) for call in refused())
    assert {each for call in refused() for each in refusable(call)} == set(LISTED)


@pytest.mark.parametrize("what", LISTED)
def test_users_can_read_what_is_refused(what):
    assert what in REFUSED


def test_no_other_difference_is_explained_by_chance():
    call = Call("create pods: plain", "POST", "pods", pod())
    assert explained(call, {"code": 422, "reason": "Invalid"}, FINE) == ""
    assert explained(call, {"code": 400, "reason": "BadRequest"}, {"code": 422, "reason": "Invalid"}) == ""


@pytest.mark.parametrize("plural", [*known.RESOURCES, *known.SUBRESOURCES])
def test_the_embedded_server_refuses_it(plural):
    resource, _, subresource = plural.partition("/")
    path = f"api/v1/namespaces/default/{resource}" + (f"/x/{subresource}" if subresource else "")
    with pytest.raises(StatusError) as error:
        parse_path(path.split("/"))
    assert error.value.code == 501
