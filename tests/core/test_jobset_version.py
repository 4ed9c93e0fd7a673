"""The version of JobSet from its schema and from its answers."""

import pytest

from xlaunch.core.checks import check
from xlaunch.core.errors import UsageError
from xlaunch.core.jobset_version import FIELDS, JobSetVersion, by_answer, by_schema, probe


def schema(*paths):
    """A schema with these fields; the lists among them are lists, as in the CRD."""
    tree = {}
    for path in paths:
        node = tree
        for name in path:
            node = node.setdefault("properties", {}).setdefault(name, {})
            if name in ("replicatedJobs", "replicatedJobsStatus", "rules"):
                node = node.setdefault("items", {})
    return tree


@pytest.mark.parametrize("newest", range(len(FIELDS)))
def test_each_release_is_known_by_its_newest_field(newest):
    found = by_schema(schema(*(path for _, path in FIELDS[newest:])))
    assert (found.version, found.source) == (FIELDS[newest][0], "schema")
    assert found.bound == ("" if newest else "or later")


def test_a_schema_without_any_of_the_fields_is_older():
    assert str(by_schema(schema(("spec", "replicatedJobs", "name")))) == "0.5 or older"
    assert str(by_schema({})) == "0.5 or older"


def test_a_field_elsewhere_is_not_that_field():
    assert str(by_schema(schema(("spec", "jobRestarts"), ("spec", "volumeClaimPolicies")))) == "0.11"


LABEL = 'spec will lead to invalid label value "a-main-0-0.a" for coordinator label "jobset.sigs.k8s.io/coordinator"'


@pytest.mark.parametrize(
    ("status", "message", "version"),
    [
        (201, "", "0.10 or older"),
        (403, f'admission webhook "vjobset.kb.io" denied the request: {LABEL}', "0.11"),
        (422, f'admission webhook "vjobset.kb.io" denied the request: <nil>: Internal error: {LABEL}', "0.12 or later"),
        (403, 'jobsets.jobset.x-k8s.io is forbidden: User "me" cannot create resource "jobsets"', ""),
        (403, 'admission webhook "vjobset.kb.io" denied the request: something else', ""),
        (422, f'admission webhook "another" denied the request: {LABEL}', ""),
        (400, 'admission webhook "vjobset.kb.io" does not support dry run', ""),
        (500, 'Internal error occurred: failed calling webhook "vjobset.kb.io"', ""),
    ],
)
def test_answers(status, message, version):
    assert str(by_answer(status, message)) == version


def test_what_is_asked_is_wrong_in_nothing_but_the_length_of_the_label():
    with pytest.raises(UsageError, match=r"the coordinator's address .* has 86 characters") as refusal:
        check(probe())
    assert "more)" not in refusal.value.message


def test_words():
    assert str(JobSetVersion("v0.12.0", "image")) == "v0.12.0"
    assert str(JobSetVersion()) == ""


@pytest.mark.parametrize(
    ("version", "before"),
    [("0.11", True), ("v0.11.1", True), ("0.9", True), ("0.12", False), ("v0.12.0+xlaunch", False), ("1.0", False),
     ("", False), ("main", False)],
)  # fmt: skip
def test_before_a_release(version, before):
    assert JobSetVersion(version).is_before(0, 12) is before
