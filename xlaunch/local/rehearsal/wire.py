"""How the stand-ins reach each other: JSON lines over TCP on the pods' loopback addresses."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xlaunch.local.rehearsal.abslog import Log
from xlaunch.local.rehearsal.clock import Clock


class Channel:
    """One connection. Sending is safe from several threads, receiving from one."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connection
        self._lines = connection.makefile("rb")
        self._lock = threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        """Sends one message. Raises OSError where the other side has gone."""
        with self._lock:
            self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> dict[str, Any] | None:
        """The next message; None where the other side has gone, however that happened."""
        try:
            line = self._lines.readline()
        except (OSError, ValueError):
            return None
        message: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return message

    def close(self) -> None:
        """Ends the connection; a thread in `receive` gets None."""
        with contextlib.suppress(OSError):  # gone already, which is what was wanted
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def connect(address: str, timeout: float = 5.0) -> Channel:
    """A connection to `host:port` (a leading `grpc://` is ignored). Raises OSError."""
    host, port = split(address)
    connection = socket.create_connection((resolve(host), port), timeout)
    connection.settimeout(None)
    return Channel(connection)


def keep_talking(manager: str, talk: Callable[[Channel], None], clock: Clock, log: Log) -> None:
    """Talks to the resource manager, again whenever it comes back; never returns. Its absence is told once."""
    told = ""
    while True:
        try:
            talk(connect(manager))
            told = ""
        except OSError as error:
            if str(error) != told:
                told = str(error)
                log.note(f"The resource manager at {manager} is away ({error}); trying again", "W")
        clock.sleep(1.0)


def split(address: str) -> tuple[str, int]:
    """Host and port of an address. Raises ValueError with a sentence."""
    host, colon, port = address.partition("://")[2].rpartition(":") if "://" in address else address.rpartition(":")
    if not (colon and host and port.isdigit()):
        raise ValueError(f"{address!r} is not host:port")
    return host, int(port)


def resolve(name: str) -> str:
    """The address of a pod's DNS name, from the file `XLAUNCH_HOSTS` as it is now; other names are left as they are."""
    path = os.environ.get("XLAUNCH_HOSTS")
    if path and Path(path).is_file():
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            words = line.split()
            if name in words[1:]:
                return words[0]
    return name


def pod_ip() -> str:
    """The address that this pod's ports are bound to."""
    return os.environ.get("XLAUNCH_POD_IP") or "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A listening socket on the pod's address. Raises OSError."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((pod_ip(), port))
    server.listen(256)
    return server


def serve(server: socket.socket, handle: Callable[[Channel], None]) -> None:
    """Accepts for ever, in a thread; each connection gets a thread and is closed when `handle` returns."""

    def run(channel: Channel) -> None:
        with contextlib.suppress(OSError):  # the other side went while we wrote; its next connection starts anew
            handle(channel)
        channel.close()

    def accept() -> None:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=run, args=(Channel(connection),), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def flags(argv: list[str], log: Log, **defaults: Any) -> dict[str, str]:
    """The `--name=value` flags of a Pathways server; the ones it does not know are named in the log, not dropped."""
    found = {name: str(value) for name, value in defaults.items()}
    ignored = []
    for word in argv:
        name, _, value = word.partition("=")
        name = name.lstrip("-")
        if name in found:
            found[name] = value
        else:
            ignored.append(word)
    if ignored:
        log.note(f"Accepted without effect: {' '.join(ignored)}")
    return found
