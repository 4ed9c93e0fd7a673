"""What scenarios about lost workers do and look at."""

import json
import re
import time
from datetime import datetime

from following import COUNTING, Following
from worlds import until

PODS = "/api/v1/namespaces/default/pods"
# Seconds that a busy machine may take for a deletion, a sync of the Job controller and a new pod
LOAD = 9.0
# What the Job controllers say of a back-off: the real one what is left of it, the embedded one all of it
REAL_DELAY = re.compile(
    r'"enqueueing job".* key="[^"/]+/(?P<job>[^"]+)" delay="(?:(?P<minutes>\d+)m)?(?P<seconds>[\d.]+)s"'
)
DELAY = re.compile(r"Job [^ /]+/(?P<job>\S+) has lost \d+ pods and waits (?P<minutes>)(?P<seconds>\d+) s for others")


def hosts(cluster, name, index):
    """The living pods of a slice by host."""
    words = {"jobset-name": name, "replicatedjob-name": "worker", "job-index": index}
    selector = ",".join(f"jobset.sigs.k8s.io/{key}={value}" for key, value in words.items())
    found = cluster.api.request("GET", PODS, query={"labelSelector": selector}).body["items"]
    alive = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
    return {int(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]): pod for pod in alive}


def lose(cluster, name, index, *lost, grace=0):
    """Deletes the pods of these hosts, by force or gracefully (`grace` is None).

    Returns since when, in seconds since the epoch, and the names that they had.
    """
    there = hosts(cluster, name, index)
    names = [there[host]["metadata"]["name"] for host in lost]
    began = time.time()
    for each in names:
        cluster.api.request("DELETE", f"{PODS}/{each}", body={} if grace is None else {"gracePeriodSeconds": grace})
    return began, names


def waited(cluster, name, index, host, began):
    """Seconds until the replacement of a host was made, by the API server's clock, once it runs."""

    def replaced():
        pod = hosts(cluster, name, index).get(host)
        return pod if pod and pod["status"].get("phase") == "Running" else None

    pod = until(replaced, f"the replacement of host {host}", timeout=240)
    return datetime.fromisoformat(pod["metadata"]["creationTimestamp"]).timestamp() - began


def is_about(seconds, base, cluster, job):
    """Whether a wait for a host of that Job was one of `base` seconds of the cluster.

    Stamps are whole seconds of everybody, too coarse for the embedded one: so its controller must have said it, too.
    """
    said = cluster.plane or delays(cluster, job)[-1] == base
    return bool(said) and base * cluster.unit - 1 <= seconds <= base * cluster.unit + LOAD


def delays(cluster, job):
    """The waits that the Job controller has announced for a Job, in seconds, in order; its log has them."""
    real = cluster.plane and cluster.plane.directory / "kube-controller-manager.log"
    log = (real or cluster.kubeconfig.parent / "server.log").read_text(errors="replace")
    found = (match for match in (REAL_DELAY if real else DELAY).finditer(log) if match["job"] == job)
    return [60 * int(match["minutes"] or 0) + float(match["seconds"]) for match in found]


def row(cluster, name, index=1):
    """What `status` says of a slice."""
    return cluster.look("status", name)["slices"][index]


def whole(cluster, name, index=1):
    """The slice's row once all its hosts are ready."""
    found = row(cluster, name, index)
    return found if found["ready"] == found["hosts"] else None


def counted(cluster, name, count, index=1):
    """The slice's row once so many losses count: the Job says so after the pod is gone."""
    found = row(cluster, name, index)
    return found if found["lost"] == count else None


def limit(cluster, job, pods):
    """Sets the backoffLimit of a Job that lives."""
    cluster.patch("job", job, {"spec": {"backoffLimit": pods}})


def followed(cluster, name):
    """Somebody who follows it from its first line on."""
    following = Following(cluster, name)
    following.grows(1)
    return following


def unbroken(following):
    """Whether each life that somebody followed was read from 1 on without a gap and without a line twice."""
    return all(counts == list(range(1, len(counts) + 1)) for counts in following.lives())


def goes_on(cluster, name):
    """`wait` and `status` agree that the workload has not ended."""
    assert cluster.json("wait", name, "--timeout=1s", code=124)["result"] == "Timeout"
    assert cluster.json("status", name, "--exit-code")["phase"] == "Running"


def ends(cluster, name, following):
    """The workload is deleted, and whoever followed it has read all its lines once."""
    cluster.xlaunch("workload", "delete", name, "--yes")
    assert following.done() == 10
    assert following.said[-1] == f"{name} was deleted."
    assert unbroken(following)


def with_workers(cluster, name, script, *flags, slices=1):
    """A workload that runs, whose main counts and whose workers run that script."""
    shape = (*flags, "--dry-run", "-o", "json")
    planned = json.loads(cluster.create(name, *shape, slices=slices, command=("bash", "-c", COUNTING)).stdout)
    [worker] = [each for each in planned["spec"]["replicatedJobs"] if each["name"] == "worker"]
    [container] = worker["template"]["spec"]["template"]["spec"]["containers"]
    container |= {"command": ["bash", "-c", script], "args": []}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(planned))
    assert cluster.json("wait", name, "--for=running", "--timeout=120s")["result"] == "Running"


def has_bug(cluster):
    """Whether the control plane keeps a Job's old status during a partial loss (kubernetes#139428)."""
    return cluster.api.request("GET", "/version").body["gitVersion"].startswith("v1.35.")


def quits(cluster, name, host):
    """Tells a host of the second slice to go, which exits 0: it is done, as nothing but the returned alarm says."""
    until(lambda: _has_quit(cluster, name, host), "the host to be done", timeout=120)
    short = until(lambda: done(cluster, name, 1), "the host to be done")
    assert (short["ready"], short["missing"], short["losses"]) == (3, 0, [])
    until(lambda: completed_indexes(cluster, f"{name}-worker-1") == str(host), "the Job to say so")
    alarm = only_alarm(cluster, name)
    assert alarm["reason"] == "WorkerSucceeded"
    return alarm


def _has_quit(cluster, name, host):
    """Tells it to go, and once more where its end was reported too late.

    Where the Job controller looks before that, a second later, the host is lost instead of done, and replaced.
    """
    found = row(cluster, name)
    if found["succeeded"]:
        return True
    if found["ready"] == found["hosts"]:
        lose(cluster, name, 1, host, grace=None)
    return False


def completed_indexes(cluster, job):
    """The hosts of which a Job says that they are done: "" for none."""
    return cluster.get("job", job)["status"].get("completedIndexes", "")


def done(cluster, name, count, index=1):
    """The slice's row once so many of its hosts are done."""
    found = row(cluster, name, index)
    return found if found["succeeded"] == count else None


def only_alarm(cluster, name):
    """The one alarm of a workload."""
    [alarm] = cluster.json("status", name)["alarms"]
    return alarm
