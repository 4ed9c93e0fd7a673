"""Protobuf bodies: what kubectl 1.32 sent, and a round trip through an encoder of our own."""

import json
from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.apiserver.protobuf import decode
from xlaunch.local.apiserver.schema import child, definition, resolve
from xlaunch.local.kube import StatusError

# kubectl create configmap c --from-literal=a=b
CONFIG_MAP = "azhzAAoPCgJ2MRIJQ29uZmlnTWFwEhsKEQoBYxIAGgAiACoAMgA4AEIAEgYKAWESAWIaACIA"
# kubectl create job j1 --image=busybox -- sleep 5
JOB = (
    "azhzAAoPCghiYXRjaC92MRIDSm9iEoQBChIKAmoxEgAaACIAKgAyADgAQgASZDJiChAKABIAGgAiACoAMgA4AEIAEk4SKwoCajESB2J1c3lib3ga"
    "BXNsZWVwGgE1KgBCAGoAcgCAAQCIAQCQAQCiAQAaBU5ldmVyMgBCAEoAUgBYAGAAaACCAQCKAQCaAQDCAQAaCCAAKAAwADoAGgAiAA=="
)


def test_a_config_map_of_kubectl():
    found = decode(b64decode(CONFIG_MAP))
    assert found == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}}


def test_a_job_of_kubectl():
    found = decode(b64decode(JOB))
    assert (found["apiVersion"], found["kind"], found["metadata"]) == ("batch/v1", "Job", {"name": "j1"})
    pod = found["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["restartPolicy"] == "Never"
    assert (container["name"], container["image"], container["command"]) == ("j1", "busybox", ["sleep", "5"])
    assert "parallelism" not in found["spec"]


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def part(number, data):
    return varint(number << 3) + varint(data) if isinstance(data, int) else (
        varint(number << 3 | 2) + varint(len(data)) + data
    )  # fmt: skip


def encoded(value, node):
    special = node.get("$ref")
    node = resolve(node)
    if special == "Quantity":
        return part(1, value.encode())
    if special == "IntOrString":
        return part(1, 0) + part(2, value) if isinstance(value, int) else part(1, 1) + part(3, value.encode())
    if special == "FieldsV1":
        return part(1, json.dumps(value).encode())
    if isinstance(value, str):
        return b64decode(value) if node.get("format") == "byte" else value.encode()
    return int(value) if isinstance(value, int) else message(value, node, node["tags"])


def message(value, node, tags):
    data = b""
    for number, name in tags.items():
        if isinstance(name, dict):
            data += part(int(number), message(value, node, name))
            continue
        key = name.removesuffix("?")
        if key not in value:
            continue
        inner = child(node, key)
        if inner.get("type") == "array":
            data += b"".join(part(int(number), encoded(each, inner["items"])) for each in value[key])
        elif "additionalProperties" in inner:
            for name, each in value[key].items():
                entry = part(1, name.encode()) + part(2, encoded(each, inner["additionalProperties"]))
                data += part(int(number), entry)
        else:
            data += part(int(number), encoded(value[key], inner))
    return data


def envelope(value):
    kind = part(1, value["apiVersion"].encode()) + part(2, value["kind"].encode())
    node = definition(value["kind"])
    return b"k8s\x00" + part(1, kind) + part(2, message(value, node, node["tags"])) + part(3, b"") + part(4, b"")


TEXT = st.text(min_size=1, max_size=5)
ENV = st.one_of(
    st.fixed_dictionaries({"name": TEXT, "value": TEXT}),
    st.fixed_dictionaries(
        {
            "name": TEXT,
            "valueFrom": st.fixed_dictionaries({"secretKeyRef": st.fixed_dictionaries({"name": TEXT, "key": TEXT})}),
        }
    ),
)
CONTAINER = st.fixed_dictionaries(
    {"name": TEXT},
    optional={
        "image": TEXT,
        "args": st.lists(TEXT, min_size=1, max_size=3),
        "env": st.lists(ENV, min_size=1, max_size=3),
        "resources": st.fixed_dictionaries({"limits": st.dictionaries(TEXT, TEXT, min_size=1, max_size=2)}),
        "tty": st.just(True),
        "readinessProbe": st.fixed_dictionaries(
            {"tcpSocket": st.fixed_dictionaries({"port": st.one_of(st.integers(1, 9), TEXT)})},
            optional={"periodSeconds": st.integers(1, 2**31 - 1)},
        ),
    },
)
POD = st.fixed_dictionaries(
    {"containers": st.lists(CONTAINER, min_size=1, max_size=2)},
    optional={
        "terminationGracePeriodSeconds": st.integers(-(2**63), 2**63 - 1),  # a pointer: zero is kept
        "automountServiceAccountToken": st.booleans(),
        "hostNetwork": st.just(True),
        "nodeSelector": st.dictionaries(TEXT, TEXT, min_size=1, max_size=2),
        "volumes": st.lists(st.fixed_dictionaries({"name": TEXT, "emptyDir": st.just({})}), min_size=1, max_size=2),
    },
)


@given(POD, st.dictionaries(TEXT, TEXT, min_size=1, max_size=2))
def test_any_pod_survives_the_wire(spec, labels):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": labels}, "spec": spec}
    assert decode(envelope(pod)) == pod


def test_bytes_times_and_kinds_that_are_no_resources():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "AP8="}}
    assert decode(envelope(secret)) == secret
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"},
                "deleteOptions": {"gracePeriodSeconds": 0}}  # fmt: skip
    assert decode(envelope(eviction)) == eviction
    lease = b"k8s\x00" + part(1, part(1, b"coordination.k8s.io/v1") + part(2, b"Lease"))
    renewed = part(2, part(4, part(1, 1_795_953_600) + part(2, 250_000_000)))
    assert decode(lease + part(2, renewed))["spec"]["renewTime"] == "2026-11-29T12:00:00.250000Z"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", 400),
        (b"{}", 400),
        (b"k8s\x00\xff", 400),
        (b"k8s\x00\x0a\x7fshort", 400),
        (b"k8s\x00\x08\x01", 400),
        (b"k8s\x00\x0b", 400),
        (b64decode(CONFIG_MAP)[:-8], 400),
        (b"k8s\x00" + part(1, part(1, b"apps/v1") + part(2, b"Deployment")), 415),
    ],
)
def test_what_is_no_body(data, code):
    with pytest.raises(StatusError) as caught:
        decode(data)
    assert caught.value.code == code


@given(st.binary(max_size=60))
def test_no_bytes_break_it(data):
    """Whatever comes is a pod or a refusal, never another exception."""
    try:
        found = decode(b"k8s\x00" + part(1, part(1, b"v1") + part(2, b"Pod")) + part(2, data))["kind"]
    except StatusError as error:
        found = error.code
    assert found in ("Pod", 400)
