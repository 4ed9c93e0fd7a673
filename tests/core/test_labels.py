import pytest

from xlaunch.core import labels
from xlaunch.core.errors import UsageError


def test_labels_and_annotations():
    assert labels.parse_labels("--label", ["a=1", "b.io/c=", "a=2"]) == {"a": "2", "b.io/c": ""}
    assert labels.parse_annotations("--annotation", ["A.io/b=x=y z"]) == {"A.io/b": "x=y z"}


@pytest.mark.parametrize(
    "word", ["a/b/c=x", "team=ml ops", "a", "=x", "a b=x", "a=é", "/a=x", "A.io/b=x", f"a={'x' * 64}"]
)
def test_what_is_no_label(word):
    with pytest.raises(UsageError, match="--label"):
        labels.parse_labels("--label", [word])


@pytest.mark.parametrize(
    "key",
    [
        "kueue.x-k8s.io/queue-name",
        "jobset.sigs.k8s.io/coordinator",
        "batch.kubernetes.io/job-name",
        "xlaunch.dev/owner",
    ],
)
def test_keys_of_others_are_reserved(key):
    with pytest.raises(UsageError, match=key):
        labels.check_not_reserved("--label", [key])
