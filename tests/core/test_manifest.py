"""From a spec to a plan: templates of one's own, patches, additions, and what is said about choices."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.core.checks import check
from xlaunch.core.env import EnvVar
from xlaunch.core.errors import UsageError
from xlaunch.core.manifest import make_plan, restart_budget, slice_restarts, values
from xlaunch.core.plan import plan_hash
from xlaunch.core.spec import PathwaysSpec
from xlaunch.core.tpu import lookup, names
from xlaunch.core.tpu_families import FAMILIES

ROOT = Path(__file__).parent.parent.parent
TEMPLATE = (ROOT / "templates" / "pathways.yaml.j2").read_text(encoding="utf-8")
EVERY_TYPE = [name for family in FAMILIES.values() for name in names(family)]


def spec(**given_):
    usual = {
        "name": "demo",
        "tpu": lookup("v5litepod-16"),
        "scratch": "gs://my-bucket/pathways",
        "image": "img",
        "command": ("true",),
    }
    return PathwaysSpec(**{**usual, **given_})


def worker(plan):
    return plan.manifest["spec"]["replicatedJobs"][1]


def test_a_plan_says_what_it_holds():
    plan = make_plan(spec(namespace="team-a"), TEMPLATE)
    assert (plan.name, plan.namespace) == ("demo", "team-a")
    assert yaml.safe_load(plan.text) == plan.manifest
    assert plan.hash == plan_hash(plan.manifest)


def test_the_same_spec_gives_the_same_bytes_and_another_one_another_hash():
    first, second, third = (make_plan(spec(num_slices=n), TEMPLATE) for n in (2, 2, 3))
    assert (first.text, first.hash) == (second.text, second.hash)
    assert first.hash != third.hash


@given(
    st.sampled_from(EVERY_TYPE),
    st.integers(1, 64),
    st.integers(0, 64),
    st.integers(0, 10**6),
    st.booleans(),
    st.sampled_from(["pod", "slice"]),
)
@settings(max_examples=100, deadline=None)
def test_any_type_and_size_makes_a_valid_jobset(name, slices, elastic, restarts, headless, scope):
    given_ = spec(
        name="w" * 37,
        tpu=lookup(name),
        num_slices=slices,
        elastic_slices=min(elastic, slices),
        max_slice_restarts=restarts,
        headless=headless,
        restart_scope=scope,
    )
    plan = make_plan(given_, TEMPLATE)
    assert check(plan.manifest) is None
    job = worker(plan)["template"]["spec"]
    assert (worker(plan)["replicas"], job["completions"]) == (slices, lookup(name).hosts)
    assert ("metadata" in worker(plan)["template"]) == (lookup(name).hosts > 1)


@pytest.mark.parametrize(
    ("given_", "budget", "per_slice"),
    [
        ({}, 0, 4),
        ({"max_restarts": 2}, 2, 4),
        ({"max_slice_restarts": 7}, 0, 7),
        ({"num_slices": 3, "elastic_slices": 1}, 3, 1),
        ({"num_slices": 3, "elastic_slices": 1, "max_restarts": 0}, 0, 1),
        ({"num_slices": 3, "elastic_slices": 3, "max_slice_restarts": 10, "restart_scope": "slice"}, 33, 10),
        ({"restart_scope": "slice"}, 4, 4),
    ],
)
def test_budgets(given_, budget, per_slice):
    assert (restart_budget(spec(**given_)), slice_restarts(spec(**given_))) == (budget, per_slice)


@pytest.mark.parametrize(("length", "has_subdomain"), [(1, False), (22, False), (23, True), (37, True)])
def test_a_long_name_gets_a_short_subdomain(length, has_subdomain):
    given_ = spec(name="a" * length)
    plan = make_plan(given_, TEMPLATE)
    assert ("subdomain" in plan.manifest["spec"]["network"]) == has_subdomain
    assert any("addresses end in" in notice for notice in plan.notices) == has_subdomain


def test_a_coordinator_limits_the_name():
    """Its address has the name twice, or once with a subdomain of our own; without it the pods' names set the limit."""
    with pytest.raises(UsageError, match="has 38 characters and may have 37"):
        make_plan(spec(name="a" * 38), TEMPLATE)
    plan = make_plan(spec(name="a" * 39), MINE)
    assert (plan.name, plan.notices) == ("a" * 39, ())


MINE = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: {{ name }}
  namespace: {{ namespace }}
spec:
  replicatedJobs:
  - name: all
    template:
      spec:
        template:
          spec:
            containers:
            - {name: {{ main.name }}, image: {{ main.image }}, command: {{ main.command }}}
"""


def test_a_template_of_ones_own():
    given_ = spec(env=(EnvVar("A", "1"),), labels={"team": "x"}, annotations={"note": "y"})
    manifest = make_plan(given_, MINE).manifest
    template = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert template["spec"]["containers"] == [
        {"name": "main", "image": "img", "command": ["true"], "env": [{"name": "A", "value": "1"}]}
    ]
    assert template["metadata"] == {"labels": {"team": "x"}, "annotations": {"note": "y"}}
    assert manifest["metadata"]["labels"] == {"team": "x"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{{ name }}", "other"), "changes the workload's name"),
        (("{{ namespace }}", "other"), "changes the workload's name or namespace"),
        (("{{ main.name }}", "trainer"), "no container main to give --env to"),
        (("kind: JobSet", "kind: Job"), "not a valid JobSet"),
        (("containers:", "container:"), "container is not a field"),
        (("metadata:", "metadata: ["), "not valid YAML at line"),
        (("{{ main.image }}", "{{ image }}"), "can't be rendered"),
    ],
)
def test_a_template_that_is_refused(change, said):
    with pytest.raises(UsageError) as error:
        make_plan(spec(env=(EnvVar("A", "1"),)), MINE.replace(*change))
    assert said in error.value.message


def test_a_patch_is_applied_and_changes_the_hash():
    plain = make_plan(spec(), TEMPLATE)
    patched = make_plan(spec(), TEMPLATE, {"spec": {"ttlSecondsAfterFinished": None, "suspend": True}})
    assert patched.manifest["spec"]["suspend"] is True
    assert "ttlSecondsAfterFinished" not in patched.manifest["spec"]
    assert patched.hash != plain.hash
    assert patched.hash == plan_hash(patched.manifest)


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"spec": {"nonsense": 1}}, "spec.nonsense is not a field"),
        ({"spec": {"replicatedJobs": []}}, "spec.replicatedJobs is empty"),
        ({"spec": None}, "spec.replicatedJobs is empty"),
        ({"metadata": {"name": "other"}}, "changes the workload's name"),
        ({"metadata": {"labels": {"a": "b c"}}}, "value of a label"),
        ({"metadata": {"annotations": {"a": "x" * 200_000, "b": "é" * 40_000}}}, "256 KiB"),
    ],
)
def test_a_patch_is_checked_again(patch, said):
    with pytest.raises(UsageError) as error:
        make_plan(spec(), TEMPLATE, patch)
    assert said in error.value.message


def test_choices_are_told():
    given_ = spec(name="a" * 30, restart_scope="slice", restart_exit_codes=(1,), env=(EnvVar("TOKEN", "x"),))
    told = make_plan(given_, TEMPLATE).notices
    assert [word for word in ("22", "RestartJob", "TOKEN") if not any(word in line for line in told)] == []
    assert make_plan(spec(), TEMPLATE).notices == ()


def test_every_value_is_documented():
    def paths(tree, prefix=""):
        for key, value in tree.items():
            nested = isinstance(value, dict) and not key.endswith("node_selector")
            yield from paths(value, f"{prefix}{key}.") if nested else [f"{prefix}{key}"]

    text = (ROOT / "docs" / "templates.md").read_text(encoding="utf-8").partition("| --- | --- |")[2]
    documented = {
        name for line in text.strip().splitlines() for name in re.findall(r"`([a-z_.]+)`", line.split("|")[1])
    }
    assert documented == set(paths(values(spec())))
