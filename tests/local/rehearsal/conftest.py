import io
import threading

import pytest

from xlaunch.local.rehearsal.abslog import Log


class FakeClock:
    """Time that passes only by sleeping, so that what waits for minutes takes none."""

    scale = 1.0

    def __init__(self):
        self.now = 1000.0
        self._lock = threading.Lock()

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        with self._lock:
            self.now += seconds

    def at_least(self, seconds, real_seconds):
        return seconds


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def stream():
    return io.BytesIO()


@pytest.fixture
def log(stream):
    return Log(stream)


@pytest.fixture
def messages(stream):
    """The messages logged so far, without their prefixes."""

    def read():
        lines = stream.getvalue().decode().splitlines()
        return [line.partition("] ")[2] or line for line in lines]

    return read
