"""What scenarios about losses share: a workload that counts aloud, somebody who follows it, and what kills."""

import os
import re
import signal
import threading

from worlds import until

# Counts aloud without end, at 50 lines a second; each life of the process has a name of its own
COUNTING = "n=0; while :; do n=$((n+1)); echo $BASHPID $n; sleep 0.02; done"


def counting(cluster, name, *flags, slices=1):
    """A workload that runs, and whose main counts."""
    cluster.create(name, *flags, slices=slices, command=("bash", "-c", COUNTING))
    assert cluster.json("wait", name, "--for=running", "--timeout=60s")["result"] == "Running"


class Following:
    """`xlaunch logs` in the background."""

    def __init__(self, cluster, *argv):
        self.process = cluster.start("logs", *argv)
        self.lines, self.said = [], []
        self._threads = [
            threading.Thread(target=self._take, args=pair)
            for pair in ((self.process.stdout, self.lines), (self.process.stderr, self.said))
        ]
        for thread in self._threads:
            thread.start()

    def _take(self, stream, lines):
        for line in stream:
            lines.append(line.decode().rstrip("\n"))

    def lives(self):
        """The counts of each life, in the order in which they came."""
        found = {}
        for line in list(self.lines):
            life, _, count = line.partition(" ")
            found.setdefault(life, []).append(int(count))
        return list(found.values())

    def done(self):
        """Its exit code, once all that it printed has been read."""
        code = self.process.wait(timeout=60)
        for thread in self._threads:
            thread.join()
        return code

    def says(self, words):
        """Waits for these words on stderr."""
        until(lambda: any(words in line for line in list(self.said)), f"{words!r} on stderr, not {self.said}")

    def grows(self, life):
        """Waits until that many lives have been read, the last of them for a while."""
        until(lambda: len(self.lives()) >= life and len(self.lives()[life - 1]) > 20, f"life {life}")


def process(cluster, pod, container):
    """The process of a container; the node agent's event names it."""
    told = [event["message"] for event in cluster.get("events") if event["involvedObject"]["name"] == pod]
    [number] = re.findall(rf"Started container {container} as process (\d+)", "\n".join(told))
    return int(number)


def kill(cluster, pod, container, number=signal.SIGKILL):
    """A signal; SIGKILL is what the kernel sends to what takes too much memory."""
    os.kill(process(cluster, pod, container), number)


def rows(cluster, name):
    """What `status` says of each slice."""
    return cluster.json("status", name)["slices"]
