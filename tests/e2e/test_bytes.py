"""What a process writes is what `kubectl logs -f` and `xlaunch logs` print, byte for byte, across its restart."""

import json
import os
import subprocess

import pytest
from worlds import until

pytestmark = pytest.mark.e2e

# Each life writes what is no text, progress bars and a line longer than the CRI's 16 KiB, half of it at once and half
# when the scenario says so; the first ends with 1 and the second with 0. What it has written is kept beside it
SCRIPT = r"""
cd {directory}
life=$(($(cat lives 2>/dev/null || echo 0) + 1)); echo $life > lives
write() {{
  for n in $(seq $1 $2); do printf 'life %s line %s \377\376\0 50%%\r100%%\n' $life $n; done
  head -c 40000 /dev/zero | tr '\0' x; echo
}}
write 1 100 | tee -a written
until [ -e go-$life ]; do sleep 0.1; done
write 101 200 | tee -a written
exit $((life == 1))
"""


def jobset(script):
    container = {"name": "main", "image": "none", "command": ["bash", "-c", script]}
    pod = {"restartPolicy": "OnFailure", "containers": [container]}
    job = {"backoffLimit": 4, "completions": 1, "parallelism": 1, "template": {"spec": pod}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "bytes"},
        "spec": {"replicatedJobs": [{"name": "main", "template": {"spec": job}}]},
    }


def test_logs_are_what_was_written_across_a_restart(cluster, tmp_path):
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(jobset(SCRIPT.format(directory=tmp_path))))
    written = tmp_path / "written"
    until(lambda: written.exists() and b"line 100" in written.read_bytes(), "the first half of the first life")
    followed = cluster.start("logs", "bytes")
    beginning = first_byte(followed)
    pod = cluster.pod("bytes-main")
    lives = []
    for life in (1, 2):
        until(lambda life=life: runs(cluster, pod, restarts=life - 1), f"life {life}")
        kubectl = subprocess.Popen(cluster.kubectl_line("logs", "-f", pod), stdout=subprocess.PIPE)
        begun = first_byte(kubectl)
        (tmp_path / f"go-{life}").touch()
        lives.append(begun + kubectl.communicate(timeout=60)[0])
        assert kubectl.returncode == 0
    text, said = followed.communicate(timeout=60)
    assert followed.returncode == 0, said
    whole = written.read_bytes()
    assert len(whole) > 160_000
    assert b"".join(lives) == whole
    assert beginning + text == whole
    assert b"main has restarted in pod" in said


def first_byte(process):
    """Waits for it, past the pipe's buffer, which `communicate` does not read."""
    return os.read(process.stdout.fileno(), 1)


def runs(cluster, pod, *, restarts):
    [status] = cluster.get("pod", pod)["status"].get("containerStatuses") or [{}]
    return status.get("restartCount") == restarts and "running" in status["state"]
