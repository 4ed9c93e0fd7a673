"""What scenarios read of a cluster's objects: conditions, events, labels; and a main container that obeys a test."""

from dataclasses import dataclass
from pathlib import Path

ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
FORCED = ("--grace-period=0", "--force", "--wait=false")

# Says in which of its lives it is, waits to be told its exit code, and ends with that
OBEYING = """
cd {directory}
life=$(($(cat lives 2>/dev/null || echo 0) + 1)); echo $life > lives
echo begin $life
until [ -s end-$life ]; do sleep 0.05; done
echo end $life
exit $(cat end-$life)
"""


@dataclass(frozen=True)
class Obeying:
    """A main container that ends when the test says so, in each of its lives; `directory` is where the two meet."""

    directory: Path

    @property
    def command(self):
        """What follows `--`."""
        return ("bash", "-c", OBEYING.format(directory=self.directory))

    def end(self, life, code):
        """That life ends with that exit code."""
        told = self.directory / "told"
        told.write_text(str(code))
        told.rename(self.directory / f"end-{life}")


def conditions(cluster, kind, name):
    """The conditions of an object by type, each as (status, reason, message)."""
    told = cluster.get(kind, name).get("status", {}).get("conditions", ())
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in told}


def events(cluster, name):
    """The events about objects of that name, in order, each as (type, reason, message)."""
    mine = [event for event in cluster.get("events") if event["involvedObject"]["name"] == name]
    mine.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
    return [(event["type"], event["reason"], event["message"]) for event in mine]


def refusals(cluster, job):
    """How often a pod of that Job was refused."""
    mine = [each for each in cluster.get("events") if each["involvedObject"]["name"] == job]
    return sum(each.get("count") or 1 for each in mine if each["reason"] == "FailedCreate")


def names(cluster, kind):
    """The names of all objects of that kind that are not being deleted; those of pods without their random end."""
    found = [each["metadata"] for each in cluster.get(kind) if "deletionTimestamp" not in each["metadata"]]
    return sorted(each["name"].rpartition("-")[0] if kind == "pods" else each["name"] for each in found)


def uids(cluster, kind):
    """The UIDs of all objects of that kind."""
    return {each["metadata"]["uid"] for each in cluster.get(kind)}
