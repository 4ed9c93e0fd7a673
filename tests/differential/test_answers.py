"""The same requests to both API servers: codes, reasons, sentences, causes, warnings, and the objects with defaults."""

import os
import time

import pytest
from worlds import until

from differential.corpus import creations, mixtures
from differential.corpus_changes import changes, stored
from differential.corpus_refused import refused
from differential.recorded import NAMESPACE, record
from differential.run import QUIET, RESOURCES
from differential.side_by_side import unlike
from differential.variations import EVERY

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("differential")]


@pytest.fixture(scope="module")
def pair(twins):
    return twins(NAMESPACE)


def come_to_rest(pair):
    """Waits until the controllers of neither have written anything for a while."""
    last, since = None, 0.0

    def quiet():
        nonlocal last, since
        metas = [each["metadata"] for one in pair for plural in RESOURCES for each in one.items(plural)]
        if (found := [(meta["uid"], meta["resourceVersion"]) for meta in metas]) != last:
            last, since = found, time.monotonic()
        return time.monotonic() - since > QUIET

    until(quiet, "the controllers to have written what they write")


@pytest.mark.parametrize("plural", EVERY)
def test_creations_are_answered_alike(pair, plural):
    calls = creations(plural, EVERY[plural])
    if os.environ.get("RECORD_ANSWERS"):
        record({call.name: pair[1].ask(call) for call in calls})
    assert not unlike(pair, calls)


@pytest.mark.parametrize("plural", EVERY)
def test_several_mistakes_at_once_are_answered_alike(pair, plural):
    assert not unlike(pair, mixtures(plural, EVERY[plural], seed=1, count=40))


@pytest.fixture(scope="module")
def furnished(pair):
    """Both, with what is changed."""
    for plural, obj in stored():
        for each in pair:
            each.api.request("POST", each.path(plural), body=obj)
    come_to_rest(pair)
    return pair


def test_requests_to_what_exists_are_answered_alike(furnished):
    assert not unlike(furnished, changes())


def test_what_the_embedded_server_refuses_by_name_a_real_one_has(furnished):
    asked = {call.name: [each.ask(call)["code"] for each in furnished] for call in refused()}
    assert not {name: codes for name, codes in asked.items() if codes[0] != 501 or codes[1] in (404, 405, 501)}
