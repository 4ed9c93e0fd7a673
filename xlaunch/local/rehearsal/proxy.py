"""Stands in for the Pathways IFRT proxy: takes a trainer's steps to the workers, and reports what became of them."""

from __future__ import annotations

import signal
import sys

from xlaunch.local.rehearsal import clock as clocks
from xlaunch.local.rehearsal import wire
from xlaunch.local.rehearsal.abslog import Log
from xlaunch.local.rehearsal.links import Links
from xlaunch.local.rehearsal.registry import Worker

TERMINATED = 143


class Proxy:
    """What is common to all trainers: the links to the workers and the slices that are lost for good.

    `elastic` is --num_elastic_slices. Assumed, since Pathways' own rule is not public: while more slices than that
    are away, the ones that are away do not come back to this proxy.
    """

    def __init__(self, links: Links, elastic: int, log: Log) -> None:
        self._links = links
        self._elastic = elastic
        self._log = log
        self._lost_for_good: set[int] = set()

    def handle(self, channel: wire.Channel) -> None:
        """Serves one trainer, one request at a time, in order."""
        self._log.note("A client connected")
        placed: dict[tuple[int, int], str] = {}
        failure = ""
        while True:
            message = channel.receive()
            if message is None:
                self._log.note("The client has gone")
                return
            if message["op"] == "hello":
                channel.send({"slices": self._links.wait_for_count(), "elastic": self._elastic})
            elif message["op"] == "probe":
                channel.send({"active": self._active()})
            elif message["op"] == "load":
                placed, failure = self._load(message["slices"])
                channel.send({"error": failure} if failure else {"ok": True})
            else:
                # What a lost slice held is gone until the client loads again
                failure = failure or self._step(placed, message["seconds"])
                channel.send({"error": failure} if failure else {"ok": True})

    def _active(self) -> list[int]:
        return [index for index in self._links.whole() if index not in self._lost_for_good]

    def _load(self, slices: list[int]) -> tuple[dict[tuple[int, int], str], str]:
        missing = sorted(set(slices) - set(self._active()))
        if missing:
            return {}, f"NOT_FOUND: slices {missing} are not there (rehearsal)"
        return self._links.placed(slices), ""

    def _step(self, placed: dict[tuple[int, int], str], seconds: float) -> str:
        failure = self._links.run(placed, seconds)
        if failure:
            self._log.note(failure, "E")
            away = {index for index, _ in placed} - set(self._links.whole())
            if len(away) > self._elastic:
                self._lost_for_good |= away
                self._log.note(
                    f"Slices {sorted(away)} are away and --num_elastic_slices={self._elastic}: lost for good",
                    "E",
                )
        return failure


def follow_manager(manager: str, links: Links, clock: clocks.Clock, log: Log) -> None:
    """Takes in what the resource manager says of the workers; never returns."""

    def follow(channel: wire.Channel) -> None:
        channel.send({"op": "watch"})
        while snapshot := channel.receive():
            workers = [Worker(**fields) for fields in snapshot["workers"]]
            links.update(snapshot["slices"], workers, snapshot["settled"])
        log.note(f"The resource manager at {manager} closed the connection", "W")

    wire.keep_talking(manager, follow, clock, log)


def main(argv: list[str]) -> int:
    """Serves until it is told to stop."""
    log = Log(sys.stderr.buffer)
    clock = clocks.from_environment()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    found = wire.flags(
        argv,
        log,
        server_port=29000,
        resource_manager_address="",
        num_elastic_slices=0,
        gcs_scratch_location="",
    )
    log.note("REHEARSAL by xlaunch: stands in for the Pathways proxy server; no TPU is used")
    manager = found["resource_manager_address"]
    wire.split(manager)
    links = Links(clock)
    proxy = Proxy(links, int(found["num_elastic_slices"]), log)
    wire.serve(wire.listen(int(found["server_port"])), proxy.handle)
    follow_manager(manager, links, clock, log)
    return 0
