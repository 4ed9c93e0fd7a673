"""The API server's answers against those that Kubernetes 1.37.2 gave to the same requests (tests/differential)."""

import asyncio

import pytest
from differential import normalise
from differential.compare import readable
from differential.corpus import creations
from differential.corpus_refused import refused_creations
from differential.known import explained
from differential.recorded import NAMESPACE, digest, load
from differential.variations import EVERY

from xlaunch.local.apiserver.bodies import WriteOptions
from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.apiserver.resources import BY_NAME
from xlaunch.local.controllers.webhooks import hooks
from xlaunch.local.kube import StatusError
from xlaunch.local.time import ScaledClock

RECORDED = load()
CALLS = [(plural, call) for plural, variations in EVERY.items() for call in creations(plural, variations)]


def answered(plural, body):
    """The normalised answer to a creation that only tries."""

    async def ask():
        kube = EmbeddedKube(ScaledClock(), hooks())
        await kube.create("namespaces", {"metadata": {"name": NAMESPACE}})
        options = WriteOptions(dry_run=True, unknown_fields="Warn")
        try:
            made = await kube.create_as(BY_NAME[plural], body, NAMESPACE, options)
        except StatusError as error:
            return normalise.answer(error.code, error.body())
        return normalise.answer(201, made, tuple(options.warnings))

    return asyncio.run(ask())


def test_there_is_an_answer_to_every_request():
    assert {call.name for _, call in CALLS} == set(RECORDED)


@pytest.mark.parametrize(("plural", "call"), CALLS, ids=[call.name for _, call in CALLS])
def test_a_creation_is_answered_as_on_kubernetes(plural, call):
    here, there = digest(answered(plural, call.body)), RECORDED[call.name]
    assert here == there or explained(call, here, there), readable(here, there)


@pytest.mark.parametrize(("plural", "call"), [pytest.param(*each, id=each[1].name) for each in refused_creations()])
def test_what_the_embedded_cluster_does_not_have_is_refused_by_name(plural, call):
    assert answered(plural, call.body)["code"] == 501
