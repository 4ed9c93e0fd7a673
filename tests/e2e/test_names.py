"""How long a workload's name may be: what xlaunch makes of it, what it refuses, and what JobSet's webhook says."""

import re

import pytest
from refusing import Asking, rendered

pytestmark = pytest.mark.e2e

TOO_LONG = "JobSet name is too long, pod names generated for this JobSet will exceed 63 characters"


def address(name, subdomain=""):
    return f"{name}-pathways-head-0-0.{subdomain or name}"


def refused_address(label):
    return (
        f'spec will lead to invalid label value "{label}" for coordinator label "jobset.sigs.k8s.io/coordinator" (long '
        "JobSet / ReplicatedJob / SubDomain name?): must be no more than 63 bytes"
    )


def named(manifest, length):
    manifest["metadata"]["name"] = "a" * length
    return manifest


@pytest.mark.verified("11.1", "11.4")
def test_what_the_webhook_says_to_each_length(cluster, tmp_path):
    """The names that xlaunch takes are those that JobSet takes, for each way in which a head is found."""
    asking = Asking(cluster)
    plain = rendered(cluster, "a" * 22)
    short = rendered(cluster, "a" * 23)
    subdomain = short["spec"]["network"]["subdomain"]
    assert ("subdomain" in plain["spec"]["network"], len(subdomain)) == (False, 7)
    without = rendered(cluster, "a" * 22)
    del without["spec"]["coordinator"]
    said = {length: asking.of(named(plain, length)) for length in (22, 23)}
    assert said == {22: "", 23: refused_address(address("a" * 23))}
    # xlaunch says it before, where a patch takes the subdomain away
    patch = tmp_path / "patch.yaml"
    patch.write_text("spec: {network: {subdomain: null}}")
    error = cluster.create("a" * 23, f"--patch={patch}", code=2).stderr
    assert f"{address('a' * 23)} has 65 characters, and labels have at most 63" in error
    said = {length: asking.of(named(short, length)) for length in (23, 37, 38)}
    assert said == {23: "", 37: "", 38: refused_address(address("a" * 38, subdomain))}
    said = {length: asking.of(named(without, length)) for length in (39, 40)}
    job = f"{'a' * 40}-pathways-head-0"
    assert said == {39: "", 40: f'spec.replicatedJobs[0].name: Invalid value: "{job}": {TOO_LONG}'}


def without_coordinator(template):
    """The shipped template without it: the head's address is put together from the workload's name."""
    text, cuts = re.subn(r"  coordinator:\n(    .*\n)+", "", template)
    label = """valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/coordinator']"}}"""
    assert cuts == 1
    assert label in text
    return text.replace(label, 'value: {{ name ~ "-pathways-head-0-0." ~ name }}').replace(
        "{{ subdomain }}", "{{ name }}"
    )


@pytest.mark.verified("11.4")
def test_the_longest_names_run(cluster, tmp_path):
    """37 characters with a subdomain of their own, 39 in a template without a coordinator; one more is refused."""
    longest, own = "b" * 37, f"--template={tmp_path / 'own.yaml.j2'}"
    here = ("bash", "-c", "echo here; sleep 600")
    assert "more than the 22 that JobSet allows by default" in cluster.create(longest, command=here).stderr
    assert "has 38 characters and may have 37" in cluster.create("c" * 38, code=2).stderr
    shipped = cluster.xlaunch("template", "export", "pathways", target=False).stdout
    (tmp_path / "own.yaml.j2").write_text(without_coordinator(shipped))
    cluster.create("d" * 39, own, command=here)
    assert "has 40 characters and may have 39" in cluster.create("d" * 40, own, code=2).stderr
    for name in (longest, "d" * 39):
        assert cluster.json("wait", name, "--for=running")["result"] == "Running"
    head = cluster.get("pod", cluster.pod(f"{longest}-pathways-head"))
    subdomain = cluster.get("jobset", longest)["spec"]["network"]["subdomain"]
    assert head["metadata"]["labels"]["jobset.sigs.k8s.io/coordinator"] == address(longest, subdomain)
    assert cluster.get("service", subdomain)["spec"]["clusterIP"] == "None"
    for name in (longest, "d" * 39):
        status = cluster.json("status", name)
        assert (status["phase"], [each["ready"] for each in status["slices"]]) == ("Running", [4])
        assert cluster.xlaunch("logs", name, "--no-follow").stdout == "here\n"
    listed = {each["name"]: each["phase"] for each in cluster.json("workload", "list")["items"]}
    assert listed == {longest: "Running", "d" * 39: "Running"}
