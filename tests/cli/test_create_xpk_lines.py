"""Shapes of public xpk command lines, and what each must do."""

import json
from pathlib import Path

import pytest
import yaml
from support.pathways import container

from xlaunch.core.checks import check

LINES = json.loads((Path(__file__).parent.parent / "data" / "xpk_lines.json").read_text(encoding="utf-8"))


def run(xlaunch, line, tmp_path):
    argv = [word.replace("=raw_manifest", f"={tmp_path}/raw_manifest") for word in line["argv"]]
    return xlaunch("workload", "create-pathways", *argv, *([] if "--dry-run" in argv else ["--dry-run"]))


@pytest.mark.parametrize("line", LINES, ids=[line["name"] for line in LINES])
def test_a_public_line_does_what_it_must(xlaunch, tmp_path, line):
    expect = line["expect"]
    done = run(xlaunch, line, tmp_path)
    codes = expect["rc"] if isinstance(expect["rc"], list) else [expect["rc"]]
    assert done.code in codes, done.stderr
    if done.code:
        assert expect["says"] in done.stderr
        assert done.stdout == ""
        return
    manifest = yaml.safe_load(done.stdout)
    check(manifest)
    proxy = container(manifest, "pathways-proxy")["args"]
    if "scratch_prefix" in expect:
        assert any(arg.startswith(f"--gcs_scratch_location={expect['scratch_prefix']}") for arg in proxy)
    if "num_elastic_slices" in expect:
        assert f"--num_elastic_slices={expect['num_elastic_slices']}" in proxy
    if "maxRestarts" in expect:
        assert manifest["spec"]["failurePolicy"]["maxRestarts"] == expect["maxRestarts"]
    if "main" in expect:
        assert container(manifest, expect["main"])["image"] == "img"
    if "file" in expect:
        assert (tmp_path / expect["file"]).read_bytes() == done.stdout_bytes


def test_a_long_guide_name_gets_a_short_subdomain_and_that_is_said(xlaunch, tmp_path):
    done = run(xlaunch, LINES[0], tmp_path)
    subdomain = yaml.safe_load(done.stdout)["spec"]["network"]["subdomain"]
    assert len(subdomain) == 7
    assert f"addresses end in .{subdomain}" in done.stderr
