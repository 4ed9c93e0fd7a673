"""A clock that moves only when somebody sleeps."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


class FakeClock:
    """Sleeping takes no time and moves both clocks; `slept` has every pause."""

    def __init__(self):
        self.seconds = 0.0
        self.slept = []

    def now(self):
        return START + timedelta(seconds=self.seconds)

    def monotonic(self):
        return self.seconds

    def sleep(self, seconds):
        assert seconds >= 0
        self.slept.append(seconds)
        self.seconds += seconds
