"""Paths, parameters, accepted forms and bodies."""

import pytest

from xlaunch.local.apiserver.podlogs import container_of
from xlaunch.local.apiserver.podlogs import options_of as log_options
from xlaunch.local.apiserver.requests import (
    accepted,
    check_named,
    delete_options,
    number,
    parse_body,
    parse_path,
    write_options,
)
from xlaunch.local.kube import APPLY, MERGE, StatusError
from xlaunch.local.logs import LogOptions

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("api/v1/pods", ("pods", "", "", "")),
        ("api/v1/namespaces", ("namespaces", "", "", "")),
        ("api/v1/namespaces/x", ("namespaces", "", "x", "")),
        ("api/v1/namespaces/x/status", ("namespaces", "", "x", "status")),
        ("api/v1/namespaces/x/finalize", ("namespaces", "", "x", "finalize")),
        ("api/v1/namespaces/x/pods", ("pods", "x", "", "")),
        ("api/v1/namespaces/x/pods/p", ("pods", "x", "p", "")),
        ("api/v1/namespaces/x/pods/p/log", ("pods", "x", "p", "log")),
        ("api/v1/nodes/n/status", ("nodes", "", "n", "status")),
        ("apis/batch/v1/namespaces/x/jobs/j", ("jobs", "x", "j", "")),
        ("apis/jobset.x-k8s.io/v1alpha2/jobsets", ("jobsets", "", "", "")),
        ("apis/events.k8s.io/v1/namespaces/x/events", ("events", "x", "", "")),
    ],
)
def test_paths(path, target):
    found = parse_path(path.split("/"))
    assert (found.resource.plural, found.namespace, found.name, found.subresource) == target


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("api/v1/bogus", 404),
        ("apis/nobody.test/v1/things", 404),
        ("api/v1/namespaces/x/pods/p/bogus", 404),
        ("api/v1/namespaces/x/pods/p/log/more", 404),
        ("api/v1/pods/p", 404),
        ("api/v1/namespaces/x/nodes/n", 404),
        ("apis/batch/v1/cronjobs", 501),
        ("apis/apps/v1/namespaces/x/deployments", 501),
        ("api/v1/namespaces/x/pods/p/exec", 501),
        ("api/v1/persistentvolumes", 501),
    ],
)
def test_paths_that_lead_nowhere(path, code):
    with pytest.raises(StatusError) as caught:
        parse_path(path.split("/"))
    assert caught.value.code == code
    if code == 501:
        assert path.split("/")[-1] in caught.value.message


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("", "json"),
        ("*/*", "json"),
        ("application/json", "json"),
        ("application/vnd.kubernetes.protobuf,application/json", "json"),
        (f"{TABLE},{TABLE.replace('v=v1', 'v=v1beta1')},application/json", "table"),
        ("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "partial"),
        ("application/json;as=Unknown;v=v1;g=meta.k8s.io, application/json;q=0.5", "json"),
    ],
)
def test_the_first_form_that_is_offered(header, form):
    assert accepted(header) == form


@pytest.mark.parametrize("header", ["application/xml", "text/html, application/vnd.kubernetes.protobuf"])
def test_forms_that_are_not_offered(header):
    with pytest.raises(StatusError) as caught:
        accepted(header)
    assert (caught.value.code, caught.value.reason) == (406, "NotAcceptable")


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (b'{"a": 1}', "application/json", {"a": 1}),
        (b'{"a": 1}', "", {"a": 1}),
        (b"a: 1\n", APPLY, {"a": 1}),
        (b"a: 1\n", "application/yaml", {"a": 1}),
        (b'{"a": null}', MERGE, {"a": None}),
    ],
)
def test_bodies(data, kind, expected):
    assert parse_body(data, kind) == expected


@pytest.mark.parametrize(
    ("data", "kind", "code"),
    [
        (b"a: 1", "application/json", 400),
        (b"{", APPLY, 400),
        (b"\xff", "application/json", 400),
        (b"{}", "text/html", 415),
    ],
)
def test_bodies_that_do_not_parse(data, kind, code):
    with pytest.raises(StatusError) as caught:
        parse_body(data, kind)
    assert caught.value.code == code


def test_how_to_write():
    options = write_options(
        {"fieldManager": "m", "dryRun": "All", "fieldValidation": "Strict"}, "x", "PatchOptions", apply=True
    )
    assert (options.manager, options.dry_run, options.force, options.unknown_fields) == ("m", True, False, "Strict")
    assert write_options({"force": "true"}, "kubectl/v1.32 (linux)", "CreateOptions").manager == "kubectl"
    for query, wrong in (
        ({}, "fieldManager: Required value: is required for apply patch"),
        ({"fieldManager": "m", "dryRun": "Some"}, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'),
        (
            {"fieldManager": "m", "fieldValidation": "x"},
            'fieldValidation: Unsupported value: "x": supported values: ""',
        ),
    ):
        with pytest.raises(StatusError) as caught:
            write_options(query, "", "PatchOptions", apply=True)
        assert caught.value.code == 422
        assert caught.value.message.startswith(f'PatchOptions.meta.k8s.io "" is invalid: {wrong}')


@pytest.mark.parametrize(
    ("query", "body", "expected"),
    [
        ({}, None, (None, None, None, False)),
        ({"gracePeriodSeconds": "5", "propagationPolicy": "Orphan"}, None, (5, "Orphan", None, False)),
        ({"gracePeriodSeconds": "5"}, {"gracePeriodSeconds": 0}, (0, None, None, False)),
        ({}, {"preconditions": {"uid": "u"}, "dryRun": ["All"]}, (None, None, "u", True)),
        ({}, {"orphanDependents": True}, (None, "Orphan", None, False)),
        ({}, {"orphanDependents": False}, (None, "Background", None, False)),
        ({}, ["nonsense"], (None, None, None, False)),
    ],
)
def test_how_to_delete(query, body, expected):
    found = delete_options(query, body)
    assert (found.grace, found.propagation, found.uid, found.dry_run) == expected


def test_a_grace_period_is_a_number():
    for query, body in (({"gracePeriodSeconds": "soon"}, None), ({}, {"gracePeriodSeconds": "soon"})):
        with pytest.raises(StatusError) as caught:
            delete_options(query, body)
        assert caught.value.code == 400
    assert number({}, "x") is None


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (
            {"propagationPolicy": "Sideways"},
            'Unsupported value: "Sideways": supported values: "Foreground"',
        ),
        ({"propagationPolicy": "Orphan", "orphanDependents": True}, 'Invalid value: "Orphan": orphanDependents and'),
    ],
)
def test_how_not_to_delete(body, wrong):
    with pytest.raises(StatusError) as caught:
        delete_options({}, body)
    assert caught.value.code == 422
    assert caught.value.message.startswith(f'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: {wrong}')


def test_a_binding_names_its_own_pod():
    target = parse_path(["api", "v1", "namespaces", "default", "pods", "a", "binding"])
    check_named({"metadata": {"name": "a"}}, target)
    with pytest.raises(StatusError, match="name in URL does not match name in Binding object"):
        check_named({"metadata": {"name": "b"}}, target)


def test_log_options():
    query = {"follow": "True", "previous": "1", "tailLines": "3", "limitBytes": "9", "timestamps": "true",
             "sinceTime": "2026-11-29T12:00:00.123456789Z"}  # fmt: skip
    found = log_options(query)
    assert (found.follow, found.previous, found.tail_lines, found.limit_bytes, found.timestamps) == (
        True,
        True,
        3,
        9,
        True,
    )
    assert found.since_time.isoformat() == "2026-11-29T12:00:00.123456+00:00"
    assert log_options({"sinceSeconds": "60"}) == LogOptions(since_seconds=60)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"tailLines": "-1"}, 422),
        ({"limitBytes": "0"}, 422),
        ({"sinceSeconds": "0"}, 422),
        ({"sinceSeconds": "1", "sinceTime": "2026-11-29T12:00:00Z"}, 422),
        ({"sinceTime": "yesterday"}, 400),
        ({"tailLines": "many"}, 400),
        ({"stream": "Stderr"}, 501),
    ],
)
def test_log_options_that_are_refused(query, code):
    with pytest.raises(StatusError) as caught:
        log_options(query)
    assert caught.value.code == code


UNNAMED = "a container name must be specified for pod p, choose one of"


def pod(*main, init=()):
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": each} for each in main], "initContainers": [{"name": each} for each in init]},
    }


def test_the_container_that_is_meant():
    assert container_of(pod("a"), "") == "a"
    assert container_of(pod("a", "b"), "b") == "b"
    assert container_of(pod("a", init=["i"]), "i") == "i"


@pytest.mark.parametrize(
    ("each", "asked", "message"),
    [
        (pod("a"), "x", "container x is not valid for pod p"),
        (pod("a", "b"), "", f"{UNNAMED}: [a b]"),
        (pod("a", init=["i", "j"]), "", f"{UNNAMED}: [a] or one of the init containers: [i j]"),
    ],
)  # fmt: skip
def test_a_container_that_is_not_there_or_not_named(each, asked, message):
    with pytest.raises(StatusError) as caught:
        container_of(each, asked)
    assert (caught.value.code, caught.value.message) == (400, message)
