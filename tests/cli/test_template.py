"""template list and export: what comes out can be edited and used."""

import json
from pathlib import Path

import pytest
import yaml
from support.pathways import create

SHIPPED = (Path(__file__).parent.parent.parent / "templates" / "pathways.yaml.j2").read_text(encoding="utf-8")


def test_the_list_names_each_template_with_a_sentence(xlaunch):
    items = json.loads(xlaunch("template", "list", "-o", "json").stdout)["items"]
    assert [item["name"] for item in items] == ["pathways"]
    assert items[0]["summary"].startswith("A Pathways workload:")
    assert "pathways" in xlaunch("template", "list").stdout


def test_an_export_is_the_template_and_renders_the_same(xlaunch, tmp_path):
    done = xlaunch("template", "export", "pathways")
    assert done.stdout == SHIPPED
    file = tmp_path / "mine.yaml.j2"
    file.write_text(done.stdout, encoding="utf-8")
    assert create(xlaunch, f"--template={file}").stdout == create(xlaunch).stdout


def test_an_edited_template_is_used(xlaunch, tmp_path):
    file = tmp_path / "mine.yaml.j2"
    assert xlaunch("template", "export", "--file", str(file)).code == 0
    file.write_text(file.read_text(encoding="utf-8").replace("- {containerPort: 8080, protocol: TCP}", ""))
    manifest = yaml.safe_load(create(xlaunch, f"--template={file}").stdout)
    ports = manifest["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert [port["containerPort"] for port in ports] == [29005, 29006, 8471]


def test_an_existing_file_is_replaced_only_by_force(xlaunch, tmp_path):
    file = tmp_path / "mine.yaml.j2"
    file.write_text("mine")
    done = xlaunch("template", "export", "--file", str(file))
    assert (done.code, file.read_text()) == (2, "mine")
    assert "--force" in done.stderr
    assert xlaunch("template", "export", "--file", str(file), "--force").code == 0
    assert file.read_text(encoding="utf-8") == SHIPPED


def test_json_says_where_it_went(xlaunch, tmp_path):
    body = json.loads(xlaunch("template", "export", "--file", str(tmp_path / "x"), "-o", "json").stdout)
    assert (body["kind"], body["file"]) == ("Template", str(tmp_path / "x"))
    assert json.loads(xlaunch("template", "export", "-o", "json").stdout)["template"] == SHIPPED


@pytest.mark.parametrize("name", ["nothing", "../pathways", ""])
def test_an_unknown_template_is_exit_3(xlaunch, name):
    done = xlaunch("template", "export", name)
    assert (done.code, done.stdout) == (3, "")
    assert "xlaunch template list" in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [("{{ nothing }}", "can't be rendered"), ("a: b: c", "not valid YAML"), ("kind: Job", "not a valid JobSet")],
)
def test_a_bad_template_is_refused_with_a_sentence(xlaunch, tmp_path, content, said):
    file = tmp_path / "bad"
    file.write_text(content)
    done = create(xlaunch, f"--template={file}")
    assert (done.code, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("spec: {nothing: 1}", "spec.nothing is not a field"),
        ("- a", "not a mapping"),
        ("a: b: c", "not valid YAML"),
        ("metadata: {name: other}", "name or namespace"),
    ],
)
def test_a_bad_patch_is_refused_with_a_sentence(xlaunch, tmp_path, content, said):
    file = tmp_path / "patch.yaml"
    file.write_text(content)
    done = create(xlaunch, f"--patch={file}")
    assert (done.code, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize("content", ["spec: {suspend: true}", '{"spec": {"suspend": true}}'])
def test_a_patch_may_be_yaml_or_json(xlaunch, tmp_path, content):
    file = tmp_path / "patch"
    file.write_text(content)
    assert yaml.safe_load(create(xlaunch, f"--patch={file}").stdout)["spec"]["suspend"] is True


def test_a_file_that_is_no_text_is_refused(xlaunch, tmp_path):
    file = tmp_path / "binary"
    file.write_bytes(b"\xff\xfe\x00")
    done = create(xlaunch, f"--env-file={file}")
    assert done.code == 2
    assert "UTF-8" in done.stderr


def test_an_env_file_is_read(xlaunch, tmp_path):
    file = tmp_path / ".env"
    file.write_text("# note\nexport A=1\nB='two words'\n", encoding="utf-8")
    manifest = yaml.safe_load(create(xlaunch, f"--env-file={file}", "--env=A=2").stdout)
    main = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    assert [(entry["name"], entry["value"]) for entry in main["env"][-2:]] == [("A", "2"), ("B", "two words")]
