import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core import names


@pytest.mark.parametrize(("short", "limit"), [(False, 22), (True, 37)])
def test_the_coordinators_address_limits_the_name(short, limit):
    assert names.longest_coordinated_name("pathways-head", short_subdomain=short) == limit
    for length, fits in ((limit, True), (limit + 1, False)):
        name = "a" * length
        subdomain = names.short_subdomain(name) if short else ""
        assert (len(names.coordinator_address(name, "pathways-head", 0, 0, subdomain)) <= 63) == fits


@pytest.mark.parametrize(
    ("job", "replicas", "pods", "limit"),
    [("pathways-head", 1, 1, 39), ("worker", 3, 4, 46), ("worker", 64, 64, 44), ("pathways-worker", 3, 4, 37)],
)
def test_pod_names_limit_the_name(job, replicas, pods, limit):
    assert names.longest_name(job, replicas, pods) == limit


def test_a_short_subdomain_is_a_name_of_a_service_and_depends_on_the_workload():
    one, other = names.short_subdomain("a" * 30), names.short_subdomain("b" * 30)
    assert one != other
    assert len(one) == names.SUBDOMAIN_LENGTH
    assert names.is_dns1035_label(one)
    assert one == names.short_subdomain("a" * 30)


@pytest.mark.parametrize(
    ("name", "limit", "proposed"),
    [
        ("Has_Upper", 37, "has-upper"),
        ("1st", 37, "w-1st"),
        ("--", 37, "w"),
        ("fine", 37, "fine"),
        ("a" * 41, 37, "a" * 30 + "-c0f8bd"),
    ],
)
def test_a_proposal_is_like_the_name(name, limit, proposed):
    assert names.proposal(name, limit) == proposed


@given(st.text(), st.integers(22, 37))
def test_every_proposal_is_a_valid_name(name, limit):
    proposed = names.proposal(name, limit)
    assert names.is_dns1035_label(proposed)
    assert len(proposed) <= limit


VALID = {
    "dns1035": ["a", "a-b", "a1", "x" * 63],
    "dns1123": ["1", "a", "1-a", "x" * 63],
    "subdomain": ["a.b", "1.2", "a", "x" * 63 + ".y"],
    "value": ["", "a", "A_b.c-1", "x" * 63],
    "qualified": ["a", "a.b/c", "kubernetes.io/A_b.c", "x" * 63],
}
INVALID = {
    "dns1035": ["", "1a", "-a", "a-", "A", "a.b", "a_b", "x" * 64, "a\n", "é"],
    "dns1123": ["", "-1", "a-", "a.b", "x" * 64, "a\n", "٣"],
    "subdomain": ["", ".a", "a..b", "a.", "A.b", "a." * 127 + "aa"],
    "value": ["ml ops", "-a", "a-", "a/b", "x" * 64, "a\n", "é"],
    "qualified": ["", "a/b/c", "/a", "a/", "A.b/c", "a b", "x" * 64, "-a", "a/" + "x" * 64],
}
CHECKS = {
    "dns1035": names.is_dns1035_label,
    "dns1123": names.is_dns1123_label,
    "subdomain": names.is_dns1123_subdomain,
    "value": names.is_label_value,
    "qualified": names.is_qualified_name,
}


@pytest.mark.parametrize(
    ("kind", "text", "valid"),
    [(kind, text, True) for kind, texts in VALID.items() for text in texts]
    + [(kind, text, False) for kind, texts in INVALID.items() for text in texts],
)
def test_forms_of_names(kind, text, valid):
    assert CHECKS[kind](text) == valid
