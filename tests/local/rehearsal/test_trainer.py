import re
from pathlib import Path

import pytest

from xlaunch.core.loglines import Kind, parse
from xlaunch.local.rehearsal import elastic, trainer
from xlaunch.local.rehearsal.backend import JaxRuntimeError
from xlaunch.local.rehearsal.config import DEFAULTS, Config

LOG = Path(__file__).parents[2] / "data" / "logs" / "mtblog_a_pause_resume.kube.log"
DIRECTORY = "gs://b/o/r/checkpoints"


class FakeBackend:
    """Every step succeeds at once, but those that are scripted to fail: number of the dispatch -> error."""

    slices = 3

    def __init__(self, failures=None):
        self.failures = dict(failures or {})
        self.dispatched = 0
        self.pending = []
        self.loaded = []

    def active(self):
        return {0, 1, 2}

    def load(self, slices):
        self.loaded.append(set(slices))
        self.pending.clear()

    def dispatch(self, seconds):
        self.dispatched += 1
        self.pending.append(self.failures.pop(self.dispatched, None))

    def wait(self):
        error = self.pending.pop(0)
        if error:
            raise error


class InlineThread:
    """A thread that has ended when it has been started, so that a save is never overtaken by a step."""

    def __init__(self, target, args=(), daemon=None):
        self.run = lambda: target(*args)

    def start(self):
        self.run()

    def join(self):
        pass


@pytest.fixture(autouse=True)
def inline(monkeypatch):
    monkeypatch.setattr(trainer.checkpoints.threading, "Thread", InlineThread)


def flags(**changes):
    values = {**DEFAULTS, "run_name": "r", "base_output_directory": "gs://b/o", "steps": 12, "checkpoint_period": 5}
    return Config({**values, **changes}, ())


@pytest.fixture
def train(tmp_path, clock, log, stream):
    """Runs elastic training on a scripted backend and returns the events of its log."""

    def run(backend, minimum=None, **changes):
        config = flags(**changes)
        manager = elastic.Manager(backend.active, 3, clock, log)
        found = trainer.Trainer(config, tmp_path / "c", backend, clock, log, after_save=trainer._scale_up(manager, log))
        manager.retry(
            lambda: found.train(manager.slices),
            max_retries=config.elastic_max_retries,
            minimum=minimum,
            timeout=300,
            on_event=lambda: trainer.checkpoints.clean_up(config.checkpoint_dir, tmp_path / "c", log),
        )
        return [event for event in map(parse, stream.getvalue().splitlines()) if event]

    return run


def steps(events):
    return [event.step for event in events if event.kind is Kind.STEP]


def test_every_step_is_printed_once_and_saved_by_the_period(train, tmp_path):
    events = train(FakeBackend())
    assert steps(events) == list(range(12))
    assert [event.step for event in events if event.kind is Kind.COMMIT] == [0, 5, 10, 11]
    assert sorted(int(path.name) for path in (tmp_path / "c").iterdir()) == [0, 5, 10, 11]


def test_a_lost_slice_costs_the_steps_since_the_last_checkpoint(train):
    events = train(FakeBackend({9: JaxRuntimeError("DATA_LOSS: slice 2")}))
    assert steps(events) == [*range(8), *range(6, 12)]
    kinds = [event.kind for event in events]
    after = kinds[kinds.index(Kind.SLICE_DOWN) :]
    assert after[: after.index(Kind.STEP)] == [
        Kind.SLICE_DOWN,
        Kind.CLEAN_UP,
        Kind.KEEP,
        Kind.ATTEMPT,
        Kind.WAIT,
        Kind.READY,
        Kind.SURVIVOR,
        Kind.RESTORE,
        Kind.RESTORE,
        Kind.RESTORED,
    ]


def test_the_list_survives_and_grows(train):
    events = train(FakeBackend({3: JaxRuntimeError("DATA_LOSS: x"), 9: JaxRuntimeError("DATA_LOSS: x")}))
    survivors = [event for event in events if event.kind is Kind.SURVIVOR]
    assert [event.length for event in survivors] == [1, 2, 3]
    assert len({(event.pid, event.list_id) for event in survivors}) == 1


def test_an_error_while_waiting_for_a_step_to_save_is_a_lost_slice(train):
    events = train(FakeBackend({6: JaxRuntimeError("DATA_LOSS: x")}))
    assert [event.kind for event in events if event.kind in (Kind.SLICE_DOWN, Kind.STOPPED)] == [Kind.SLICE_DOWN]
    assert steps(events)[-1] == 11


def test_a_save_that_fails_is_a_false_success(train, tmp_path, monkeypatch):
    def refuse(self, step):
        raise PermissionError("read-only file system")

    monkeypatch.setattr(trainer.checkpoints.CheckpointManager, "save", refuse)
    events = train(FakeBackend())
    assert [event.detail for event in events if event.kind is Kind.STOPPED] == [
        "Checkpointing failed. read-only file system"
    ]


def test_an_error_of_the_proxy_ends_it(train):
    with pytest.raises(JaxRuntimeError, match="UNAVAILABLE"):
        train(FakeBackend({4: JaxRuntimeError("UNAVAILABLE: Socket closed")}))


def test_without_checkpoints_it_starts_again_from_nothing(train):
    events = train(FakeBackend({4: JaxRuntimeError("DATA_LOSS: x")}), enable_checkpointing=False)
    assert steps(events) == [0, 1, 2, *range(12)]
    assert Kind.SAVE not in {event.kind for event in events}


def test_without_a_place_for_checkpoints_none_is_written(train, tmp_path, messages):
    assert steps(train(FakeBackend(), base_output_directory="")) == list(range(12))
    assert "Rehearsal: without base_output_directory no checkpoint is written" in messages()
    assert not (tmp_path / "c").exists()


def test_the_end_waits_for_a_save_that_is_under_way(train, tmp_path, monkeypatch):
    class LateThread(InlineThread):
        def start(self):
            pass

        def join(self):
            self.run()

    monkeypatch.setattr(trainer.checkpoints.threading, "Thread", LateThread)
    train(FakeBackend(), steps=6, save_checkpoint_on_completion=False)
    assert (tmp_path / "c" / "5" / "commit_success.txt").exists()


def test_a_finished_run_trains_nothing(train):
    first = train(FakeBackend())
    backend = FakeBackend()
    assert steps(train(backend)) == steps(first)
    assert backend.dispatched == 0


def test_a_slice_that_came_back_is_taken_in_after_a_save(train, monkeypatch):
    backend = FakeBackend()
    seen = iter([{0, 1}])
    backend.active = lambda: next(seen, {0, 1, 2})
    news = iter([True])
    monkeypatch.setattr(elastic.Manager, "_monitor", lambda self, stop: next(news, False) and self.new_slice.set())
    events = train(backend, minimum=2, steps=8)
    assert backend.loaded[:2] == [{0, 1}, {0, 1, 2}]
    assert [event.kind for event in events].count(Kind.SCALE_UP) == 1
    assert steps(events)[-1] == 7


def normal(line):
    """A message with what differs from run to run taken out."""
    message = line.decode().partition("] ")[2]
    message = re.sub(r"gs://\S*checkpoints", "DIR", message)
    return re.sub(r"\d+(\.\d+)?", "N", message)


def test_the_forms_are_those_of_the_real_log(train, stream):
    train(FakeBackend({9: JaxRuntimeError("DATA_LOSS: x")}))
    real = {normal(line.partition(b" ")[2]) for line in LOG.read_bytes().splitlines()}
    labelled = ("Rehearsal: ", "System Information: ", "completed step: ")
    mine = [normal(line) for line in stream.getvalue().splitlines()]
    assert [message for message in mine if not message.startswith(labelled) and message not in real] == []
    assert "Slice down event detected. Retrying." in mine


def test_a_step_says_that_it_is_simulated(train, stream):
    train(FakeBackend())
    lines = [line for line in stream.getvalue().splitlines() if b"completed step" in line]
    assert all(re.fullmatch(rb".*\] completed step: \d+, seconds: \d+\.\d{3}, simulated: true", line) for line in lines)


def test_elastic_training_needs_pathways(clock, log):
    with pytest.raises(ValueError, match="requires the Pathways backend"):
        trainer.run(flags(elastic_enabled=True, base_output_directory="/tmp/o"), {}, clock, log)


def test_without_elasticity_it_waits_for_all_slices(clock, log, messages):
    backend = FakeBackend()
    seen = iter([set(), {0}, {0}, {0, 1}])
    backend.active = lambda: next(seen, {0, 1, 2})
    assert trainer.wait_for_all(backend, clock, log) == {0, 1, 2}
    assert messages() == [f"Rehearsal: {n} of 3 slices are there; waiting for all" for n in (0, 1, 2)]
