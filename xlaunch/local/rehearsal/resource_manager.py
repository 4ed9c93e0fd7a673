"""Stands in for the Pathways resource manager: takes workers in, counts heartbeats, tells proxies who lives."""

from __future__ import annotations

import signal
import sys
import threading
from dataclasses import asdict
from typing import Any

from xlaunch.local.rehearsal import clock as clocks
from xlaunch.local.rehearsal import wire
from xlaunch.local.rehearsal.abslog import Log
from xlaunch.local.rehearsal.registry import TIMEOUT_SECONDS, Registry, Worker, chips_of

TERMINATED = 143
# Below this a busy machine, not a dead worker, would be what is noticed
REAL_TIMEOUT_FLOOR = 3.0


class ResourceManager:
    """The registry behind a lock, and the proxies that watch it."""

    def __init__(self, slices: int, chips: int, clock: clocks.Clock, log: Log) -> None:
        self.chips = chips
        self._clock = clock
        self._log = log
        self._registry = Registry(slices, clock.at_least(TIMEOUT_SECONDS, REAL_TIMEOUT_FLOOR))
        self._changed = threading.Condition()
        self._version = 0
        # Until workers that lived before us have had time to register again, an absent one is not a dead one
        self._settled_at = clock.monotonic() + self._registry.timeout

    def handle(self, channel: wire.Channel) -> None:
        """Serves one connection: a worker that registers, or a proxy that watches."""
        message = channel.receive()
        if message and message["op"] == "register":
            self._worker(channel, message)
        elif message and message["op"] == "watch":
            self._watch(channel)

    def _worker(self, channel: wire.Channel, message: dict[str, Any]) -> None:
        hosts = max(1, self.chips // int(message["chips"]))
        worker = Worker(message["slice"], message["host"], hosts, message["address"], message["incarnation"])
        if not self._register(channel, worker):
            return
        while True:
            message_or_end = channel.receive()
            if message_or_end is None:
                self._log.note(f"{_name(worker)} closed its connection; waiting for its heartbeats")
                return
            with self._changed:
                known = self._registry.heartbeat(worker.incarnation, self._clock.monotonic())
            if not known:
                return

    def _register(self, channel: wire.Channel, worker: Worker) -> bool:
        with self._changed:
            try:
                self._registry.register(worker, self._clock.monotonic())
            except ValueError as error:
                channel.send({"error": str(error)})
                return False
            whole = self._registry.whole()
            self._notify()
        channel.send({"ok": True})
        self._log.note(f"Registered {_name(worker)} at {worker.address}. Whole slices: {whole}")
        return True

    def _watch(self, channel: wire.Channel) -> None:
        self._log.note("A proxy watches the workers")
        sent = -1
        while True:
            with self._changed:
                while sent == self._version:
                    self._changed.wait()
                sent = self._version
                snapshot = {
                    "slices": self._registry.slices,
                    "settled": self._clock.monotonic() >= self._settled_at,
                    "workers": [asdict(worker) for worker in self._registry.workers()],
                }
            channel.send(snapshot)

    def expire_for_ever(self) -> None:
        """Removes workers that went silent; never returns."""
        settled = False
        while True:
            self._clock.sleep(0.5)
            now = self._clock.monotonic()
            with self._changed:
                gone = self._registry.expire(now)
                if gone or (not settled and now >= self._settled_at):
                    settled = now >= self._settled_at
                    self._notify()
            for worker in gone:
                self._log.note(f"No heartbeat of {_name(worker)} for {self._registry.timeout:.0f} s: lost", "W")

    def _notify(self) -> None:
        self._version += 1
        self._changed.notify_all()


def _name(worker: Worker) -> str:
    return f"slice {worker.slice} host {worker.host}"


def main(argv: list[str]) -> int:
    """Serves until it is told to stop."""
    log = Log(sys.stderr.buffer)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    found = wire.flags(
        argv, log, server_port=29001, node_type="", instance_count=1, instance_type="", gcs_scratch_location=""
    )
    manager = ResourceManager(
        int(found["instance_count"]), chips_of(found["instance_type"]), clocks.from_environment(), log
    )
    log.note("REHEARSAL by xlaunch: stands in for the Pathways resource manager; no TPU is used")
    wire.serve(wire.listen(int(found["server_port"])), manager.handle)
    log.note(f"Expecting {found['instance_count']} slices of {found['instance_type']}")
    manager.expire_for_ever()
    return 0
