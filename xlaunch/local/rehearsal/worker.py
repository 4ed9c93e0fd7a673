"""Stands in for a Pathways worker: registers, sends heartbeats, and takes the time of each step the proxy gives it."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from xlaunch.local.rehearsal import clock as clocks
from xlaunch.local.rehearsal import wire
from xlaunch.local.rehearsal.abslog import Log

HEARTBEAT_SECONDS = 2.0
# Not 0: a worker that ends with 0 on SIGTERM counts as succeeded and is never replaced
TERMINATED = 143


def serve_steps(channel: wire.Channel, clock: clocks.Clock) -> None:
    """Answers each step of one proxy after the seconds that it takes."""
    while True:
        message = channel.receive()
        if message is None:
            return
        clock.sleep(message["seconds"])
        channel.send({"id": message["id"]})


def register_for_ever(manager: str, identity: dict[str, Any], clock: clocks.Clock, log: Log) -> None:
    """Registers and sends heartbeats; anew whenever the resource manager goes away and comes back.

    Raises ValueError where the resource manager refuses this worker.
    """

    def register(channel: wire.Channel) -> None:
        channel.send(identity)
        answer = channel.receive()
        if answer and "error" in answer:
            raise ValueError(answer["error"])
        if answer:
            log.note(f"Registered with {manager}")
        while answer:
            clock.sleep(HEARTBEAT_SECONDS)
            channel.send({"op": "heartbeat"})

    wire.keep_talking(manager, register, clock, log)


def main(argv: list[str]) -> int:
    """Serves until it is told to stop; 1 where the resource manager refuses it."""
    log = Log(sys.stderr.buffer)
    clock = clocks.from_environment()

    def stop(*_: object) -> None:
        log.note("Received SIGTERM; stopping")
        sys.exit(TERMINATED)

    signal.signal(signal.SIGTERM, stop)
    found = wire.flags(argv, log, server_port=29005, resource_manager_address="", gcs_scratch_location="", chips=4)
    slice_index = int(os.environ.get("MEGASCALE_SLICE_ID") or 0)
    host = int(os.environ.get("JOB_COMPLETION_INDEX") or 0)
    log.note(f"REHEARSAL by xlaunch: stands in for worker {host} of slice {slice_index}; no TPU is used")
    wire.serve(wire.listen(int(found["server_port"])), lambda channel: serve_steps(channel, clock))
    identity = {
        "op": "register",
        "slice": slice_index,
        "host": host,
        "chips": int(found["chips"]),
        "address": f"{wire.pod_ip()}:{found['server_port']}",
        "incarnation": os.urandom(16).hex(),
    }
    try:
        register_for_ever(found["resource_manager_address"], identity, clock, log)
    except ValueError as error:
        log.note(str(error), "E")
    return 1
