import csv
import gzip
from pathlib import Path

import pytest

from xlaunch.core.errors import UsageError
from xlaunch.core.tpu import lookup, names
from xlaunch.core.tpu_families import FAMILIES

TYPES = Path(__file__).parent.parent / "data" / "tpu-types.csv.gz"


def rows():
    with gzip.open(TYPES, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_names_are_those_of_xpk_and_no_others():
    ours = {name for family in FAMILIES.values() for name in names(family)}
    assert ours == {row["tpu_type"] for row in rows()}
    assert len(ours) == 2020


@pytest.mark.parametrize("family", FAMILIES)
def test_every_type_agrees_with_xpk(family):
    checked = 0
    for row in rows():
        if not row["tpu_type"].startswith(f"{family}-"):
            continue
        found = lookup(row["tpu_type"])
        expected = {
            "name": row["tpu_type"],
            "accelerator": row["gke_accelerator"],
            "topology": row["topology"],
            "hosts": int(row["vms_per_slice"]),
            "chips_per_host": int(row["chips_per_vm"]),
            "chips": int(row["chips_per_slice"]),
            "machine_type": row["machine_type"],
            "pathways_instance": row["pathways_instance_type"],
        }
        assert {field: getattr(found, field) for field in expected} == expected
        policy = f"{row['device_type']}-{row['topology']}-placement-policy"
        assert found.placement_policy == (policy if row["requires_workload_policy"] == "True" else "")
        checked += 1
    assert checked


@pytest.mark.parametrize(
    ("typed", "name"),
    [("v5e-16", "v5litepod-16"), ("V5P-8", "v5p-8"), ("v5e-4x4", "v5litepod-4x4")],
)
def test_other_spellings(typed, name):
    assert lookup(typed) == lookup(name)


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("v5litepod-24", "v5litepod-16"),
        ("v5litepod-4", "v5litepod-8"),
        ("v5p-9", "v5p-8"),
        ("v5p-4x4x5", "v5p-4x4x4"),
        ("v5p-8x4x4", "v5p-4x4x8"),
        ("v6e-3x3", "v6e-2x4"),
        ("v6e-", "v6e-1"),
        ("v4-0", "v4-8"),
        ("v5p-99999999999999999999", "v5p-17920"),
        ("v5e", "v5litepod-8"),
        ("v6e-16 ", "v6e-16"),
    ],
)
def test_an_unknown_size_lists_the_nearest(typed, nearest):
    with pytest.raises(UsageError) as error:
        lookup(typed)
    assert nearest in error.value.why.removeprefix("The nearest ones are ").split(", ")


@pytest.mark.parametrize("typed", ["", "h100-8", "tpu", "v7-16", "-16"])
def test_an_unknown_family_lists_the_families(typed):
    with pytest.raises(UsageError, match="is not a TPU type") as error:
        lookup(typed)
    assert "v5litepod" in error.value.why


@pytest.mark.parametrize(
    ("name", "machine", "hosts", "chips_per_host", "instance"),
    [
        ("v6e-8", "ct6e-standard-8t", 1, 8, "tpuv6e1t:2x4"),
        ("v6e-8", "ct6e-standard-4t", 2, 4, "tpuv6e:2x4"),
        ("v5litepod-8", "ct5lp-hightpu-8t", 1, 8, "tpuv5e1t:2x4"),
        ("v6e-1", "ct6e-standard-1t", 1, 1, "tpuv6e:1x1"),
    ],
)
def test_a_machine_type_sets_hosts_and_chips(name, machine, hosts, chips_per_host, instance):
    found = lookup(name, machine)
    assert (found.hosts, found.chips_per_host, found.pathways_instance) == (hosts, chips_per_host, instance)
    assert found.machine_type == machine


@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("v6e-16", "ct6e-standard-8t"),
        ("v6e-16", "ct6e-standard-1t"),
        ("v6e-16", "ct5lp-hightpu-4t"),
        ("v6e-16", "n2-standard-8"),
        ("v6e-1", "ct6e-standard-4t"),
        ("v6e-8", "ct6e-standard-0t"),
    ],
)
def test_a_machine_type_that_can_not_be_is_refused(name, machine):
    with pytest.raises(UsageError, match="can't be made of"):
        lookup(name, machine)
