"""Completion in the shells: live names, and silence where there are none."""

import os
import shutil
import subprocess
import sys
import threading
import time

import pytest
from fakes import objects
from fakes.server import Answer, Server

from xlaunch.cli import live
from xlaunch.cli.completion import rejoin

PROGRAM = "import sys; from xlaunch.main import main; sys.exit(main())"


@pytest.fixture
def ask(cluster, tmp_path):
    """What a shell is told for a line: `ask("workload delete tr")`, as a process of its own."""
    for name in ("train", "trial", "other"):
        cluster.store.put(objects.jobset(name))

    def complete(line, shell="bash", **env):
        words = line.split(" ")
        told = {
            "bash": {"COMP_WORDS": "\n".join(["xlaunch", *words]), "COMP_CWORD": str(len(words))},
            "zsh": {"_TYPER_COMPLETE_ARGS": f"xlaunch {line}"},
            "fish": {"_TYPER_COMPLETE_ARGS": f"xlaunch {line}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        }[shell]
        base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(cluster.kubeconfig)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**base, **told, "_XLAUNCH_COMPLETE": f"complete_{shell}", **env},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout

    return complete


def test_names_of_workloads(ask):
    assert ask("workload delete tr").split() == ["train", "trial"]
    assert ask("workload delete train tr").split() == ["train", "trial"]


def test_values_of_a_flag(ask):
    assert ask("workload create-pathways --dry-run = ").split() == ["client", "server"]
    assert ask("workload create-pathways --dry-run = s").split() == ["server"]
    assert ask("workload create-pathways --restart-scope = ").split() == ["pod", "slice", "auto"]
    assert ask("local up --feature-gate R").split() == ["RestartJob"]


def test_the_target_of_the_line_counts(ask, cluster):
    assert ask("workload delete -n other tr").split() == []
    assert any("/namespaces/other/" in request.path for request in cluster.requests)


def test_the_target_counts_in_the_form_of_the_printed_lines(ask, cluster):
    assert ask("workload delete --namespace = other tr").split() == []
    assert any("/namespaces/other/" in request.path for request in cluster.requests)
    assert ask("workload list --context = d").split() == ["dev"]
    assert ask("workload list --context =").split() == ["dev"]


@pytest.mark.parametrize(
    ("words", "current", "expected"),
    [
        (["x", "--a", "=", "b", "c"], 4, (["x", "--a=b", "c"], 2)),
        (["x", "--a", "=", "b"], 3, (["x", "--a=b"], 1)),
        (["x", "--a", "="], 2, (["x", "--a="], 1)),
        (["x", "a", "=", "b"], 3, (["x", "a", "=", "b"], 3)),
        (["x", "--a", "=", "b", "--c", "=", "d", ""], 7, (["x", "--a=b", "--c=d", ""], 3)),
        (["x"], 1, (["x"], 1)),
    ],
)
def test_what_bash_broke_is_joined(words, current, expected):
    assert rejoin(words, current) == expected


@pytest.mark.parametrize(
    ("flag", "values"),
    [
        ("--control-plane", ["embedded", "real"]),
        ("--kubernetes", ["1.35.4", "1.37.2"]),
        ("--jobset", ["0.12.0", "0.11.1", "0.10.1"]),
    ],
)
def test_what_a_real_control_plane_can_be(ask, flag, values):
    assert ask(f"local up {flag} ").split() == values


def test_contexts(ask):
    assert ask("workload list --context d").split() == ["dev"]


def test_commands_and_flags(ask):
    assert ask("wo").split() == ["workload"]
    assert "--ignore-not-found" in ask("workload delete --ig").split()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(ask, shell):
    told = ask("workload delete tr", shell)
    assert "train" in told
    assert "trial" in told


@pytest.mark.parametrize("kubeconfig", ["/no/such", "/etc/hostname"])
def test_nothing_where_there_is_no_cluster(ask, kubeconfig):
    assert ask("workload delete tr", KUBECONFIG=kubeconfig).split() == []


def test_a_server_that_says_no_has_no_names(ask, cluster):
    cluster.answers["/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"] = Answer(403, {"message": "no"})
    assert ask("workload delete tr").split() == []


def test_a_server_that_hangs_is_left_in_time():
    never = threading.Event()
    with Server(lambda request: never.wait(10) or {}) as server:
        from xlaunch.cluster.kubeapi import KubeApi

        begun = time.monotonic()
        assert live.quickly(lambda: KubeApi.from_url(server.url).request("GET", "/").body, patience=0.3) == []
        assert time.monotonic() - begun < 2
        never.set()


def test_whatever_goes_wrong_is_silence():
    def broken():
        raise ValueError("a bug")

    assert live.quickly(broken) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts(xlaunch, shell):
    outcome = xlaunch("completion", shell)
    assert outcome.code == 0
    assert f"_XLAUNCH_COMPLETE=complete_{shell}" in outcome.stdout
    assert "xlaunch" in outcome.stdout


def test_an_unknown_shell(xlaunch):
    assert xlaunch("completion", "tcsh").code == 2


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_bash_takes_the_script(ask, xlaunch, cluster, tmp_path):
    """The whole way: bash sources it, completes a line with it, and offers the live names."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "xlaunch"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{PROGRAM}' \"$@\"\n")
    program.chmod(0o700)
    script = xlaunch("completion", "bash").stdout
    drive = 'COMP_WORDS=(xlaunch workload delete tr) COMP_CWORD=3; _xlaunch_completion xlaunch; echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{drive}"],
        env={
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "KUBECONFIG": str(cluster.kubeconfig),
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (["train", "trial"], "")
