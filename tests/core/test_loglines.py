import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.loglines import Event, Kind, parse, split

LOGS = Path(__file__).parent.parent / "data" / "logs"
PREFIX = b"I0706 16:50:26.230209 140110937163584 metric_logger.py:214] "
KUBELET = b"2026-07-06T16:50:26.230209123Z "
AT = datetime(2026, 7, 6, 16, 50, 26, 230209, tzinfo=UTC)

CASES = [
    (
        "completed step: 9, seconds: 0.166, TFLOP/s/device: 41.524, loss: 217.296",
        Event(Kind.STEP, step=9, seconds=0.166),
    ),
    (
        "completed step: 9, seconds: 0.166, live slice count: 2, TFLOP/s/device: 1.0",
        Event(Kind.STEP, step=9, seconds=0.166, live=2),
    ),
    ("completed profiler activation/deactivation step: 4", Event(Kind.STEP, step=4)),
    ("[Rampup Batch Size Phase], completed step: 1, seconds: 2.000, loss: nan", Event(Kind.STEP, step=1, seconds=2.0)),
    ("completed step: 131, seconds: 0.160, simulated: true", Event(Kind.STEP, step=131, seconds=0.16)),
    ("Config param steps: 5000", Event(Kind.TARGET, steps=5000)),
    ("Elastic utils: Elastic training enabled.", Event(Kind.ELASTIC)),
    ("Elastic utils: Elastic training enabled with snapshot backup.", Event(Kind.ELASTIC)),
    ("Elastic attempt 2 out of 10", Event(Kind.ATTEMPT, attempt=2, of=10)),
    ("Elastic attempt 2", Event(Kind.ATTEMPT, attempt=2)),
    ("Waiting for 3 slices. Poll interval: 10, Timeout: 300", Event(Kind.WAIT, want=3, timeout=300.0)),
    ("Waiting for 3 slices. Poll interval: 10, Timeout: None", Event(Kind.WAIT, want=3)),
    (
        "2 slices active. Wanting at least 3. Active indices: {0, 2}",
        Event(Kind.POLL, have=2, want=3, indices="{0, 2}"),
    ),
    ("2 slices active. Wanting at least 3.", Event(Kind.POLL, have=2, want=3)),
    ("2/3 slices available. Wanting at least 3/3.", Event(Kind.POLL, have=2, want=3)),
    (
        "Sufficient slices active: 3 >= 3. Active indices: frozenset({0, 1, 2})",
        Event(Kind.READY, have=3, want=3, indices="frozenset({0, 1, 2})"),
    ),
    ("3 slices active.", Event(Kind.READY, have=3)),
    ("3/3 slices are available", Event(Kind.READY, have=3)),
    ("Slice down event detected. Retrying.", Event(Kind.SLICE_DOWN)),
    ("Slice down event and new slice available detected. Retrying.", Event(Kind.SLICE_DOWN)),
    ("Slice down event detected.", Event(Kind.SLICE_DOWN)),
    ("Elastic event detected", Event(Kind.SLICE_DOWN)),
    ("[!] Elastic event detected around step 3388", Event(Kind.SLICE_DOWN, step=3388)),
    ("Scale up requested. Retrying.", Event(Kind.SCALE_UP)),
    ("Elastic utils: Checking for incomplete checkpoint after an elastic event...", Event(Kind.CLEAN_UP)),
    (
        "Found commit_success file. Keeping gs://b/2026/run/checkpoints/100/.",
        Event(Kind.KEEP, path="gs://b/2026/run/checkpoints/100", step=100),
    ),
    (
        "No commit_success file found. Deleting gs://b/run/checkpoints/200/...",
        Event(Kind.DROP, path="gs://b/run/checkpoints/200", step=200),
    ),
    ("Found no existing checkpoints. Continuing", Event(Kind.NO_CHECKPOINT)),
    (
        "[process=0] [sync] Started load checkpoint @ gs://b/run/checkpoints/10.",
        Event(Kind.RESTORE, path="gs://b/run/checkpoints/10", step=10),
    ),
    (
        "Restoring checkpoint from gs://b/run/checkpoints/10.",
        Event(Kind.RESTORE, path="gs://b/run/checkpoints/10", step=10),
    ),
    (
        "Restoring checkpoint from gs://b/2026/checkpoints/10/items.",
        Event(Kind.RESTORE, path="gs://b/2026/checkpoints/10", step=10),
    ),
    (
        "[process=0] [sync] Finished load in 5.39 seconds @ gs://b/run/checkpoints/10",
        Event(Kind.RESTORED, path="gs://b/run/checkpoints/10", step=10, seconds=5.39),
    ),
    (
        "Finished restoring checkpoint in 5.39 seconds from gs://b/run/checkpoints/10.",
        Event(Kind.RESTORED, path="gs://b/run/checkpoints/10", step=10, seconds=5.39),
    ),
    ("No existing checkpoints found, not restoring checkpoint.", Event(Kind.NO_RESTORE)),
    ("[process=0] Saving checkpoint at step 20", Event(Kind.SAVE, step=20)),
    (
        "[process=0][thread=async_save] Finished saving checkpoint (finalized tmp dir) to `gs://b/run/checkpoints/20`.",
        Event(Kind.COMMIT, path="gs://b/run/checkpoints/20", step=20),
    ),
    (
        "[process=0] [async] Finished save (blocking + background) in 12.01 seconds @ /out/run/checkpoints/20",
        Event(Kind.SAVED, path="/out/run/checkpoints/20", step=20, seconds=12.01),
    ),
    (
        (
            "[process=0] Failed to run 3 Handler Commit operations or the Commit callback in background save thread, "
            "directory: gs://b/run/checkpoints/20"
        ),
        Event(Kind.SAVE_FAILED, path="gs://b/run/checkpoints/20", step=20),
    ),
    ("Training stopped: Checkpointing failed. x", Event(Kind.STOPPED, detail="Checkpointing failed. x")),
    (
        "pathwaysutils.elastic.manager.ElasticRuntimeError: Elastic attempt 10 out of 10 failed.",
        Event(Kind.EXHAUSTED, attempt=10, of=10),
    ),
    (
        (
            "TimeoutError: Timed out waiting for 3 slices. Only 2 active after 290.12 seconds. Next check would occur "
            "after the timeout of 300 seconds."
        ),
        Event(Kind.TIMEOUT, want=3, have=2, seconds=290.12),
    ),
    (
        "jax.errors.JaxRuntimeError: DATA_LOSS: slice 2 host 0",
        Event(Kind.ERROR, code="DATA_LOSS", detail="slice 2 host 0"),
    ),
    (
        "Connection to IFRT proxy server was terminated: UNAVAILABLE: Socket closed",
        Event(Kind.PROXY_LOST, detail="UNAVAILABLE: Socket closed"),
    ),
    ("Rehearsal: pid=17 list=0x7ff9 length=2", Event(Kind.SURVIVOR, pid=17, list_id="0x7ff9", length=2)),
]

NOTHING = [
    "",
    "Finished blocking load in 0.01 seconds. Continuing load @ gs://b/run/checkpoints/10.",
    "Retry policy rejected retry after jax.errors.JaxRuntimeError.",
    "the log says: completed step: 9, seconds: 0.1",
    "completed step: nine",
    "Config param steps_per_epoch: 5",
    "completed step: 1, seconds: 1.2.3",
    "completed step: " + "9" * 5000,
]


@pytest.mark.parametrize(("message", "event"), CASES, ids=lambda value: value[:60] if isinstance(value, str) else "")
def test_each_form_is_one_event(message, event):
    assert parse(message.encode()) == event
    assert parse(PREFIX + message.encode() + b"\n") == event
    stamped = parse(KUBELET + PREFIX + message.encode() + b"\n")
    assert stamped.at == AT
    assert stamped == Event(**{**vars(event), "at": AT})


@pytest.mark.parametrize("message", NOTHING, ids=lambda message: message[:60])
def test_other_lines_are_nothing(message):
    assert parse(PREFIX + message.encode()) is None


def test_every_kind_has_a_case():
    assert {event.kind for _, event in CASES} == set(Kind)


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        (b"I0000 00:00:1795992123.043229   17007 port.cc:153] oneDNN", "I", "oneDNN"),
        (b"E0722 05:02:30.432038     639 rpc_helper.cc:369] Connection", "E", "Connection"),
        (b"E1129 22:15:40.609509 140 manager.py:411] CRITICAL - gone", "E", "gone"),
        (b"WARNING:absl:Grain", "", "WARNING:absl:Grain"),
        (b" Total TFLOPs: 0.00 \r\n", "", " Total TFLOPs: 0.00 "),
        (b"\xff\xfe", "", "��"),
    ],
)
def test_split_knows_the_prefixes(line, level, message):
    parts = split(line)
    assert (parts.at, parts.level, parts.message) == (None, level, message)


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(line):
    assert parse(line) is None or isinstance(parse(line), Event)


@given(st.integers(0, 10**9), st.from_regex(r"gs://[a-z0-9-]{3,10}(/[\w.-]{1,10}){0,3}", fullmatch=True))
def test_the_step_is_the_last_number_of_a_path(step, base):
    path = f"{base}/checkpoints/{step}"
    event = parse(f"Restoring checkpoint from {path}.".encode())
    assert (event.step, event.path) == (step, path)


# Counted by hand in the logs, with grep for the literal texts
COUNTS = {
    "mtblog_a_pause_resume.kube.log": {"attempt": 2, "step": 31, "slice-down": 1, "poll": 3, "restore": 2, "commit": 4},
    "mt023p11_b2_two_losses_during_save.kube.log": {"attempt": 3, "slice-down": 2, "drop": 1, "save-failed": 1},
    "mt025_c_timeout.log": {"attempt": 2, "step": 12, "slice-down": 1, "poll": 3, "timeout": 1, "restore": 0},
    "mt025_d_exhausted.log": {"attempt": 2, "slice-down": 2, "exhausted": 1, "restored": 1},
    "mt025_f_scale_up.log": {"attempt": 3, "step": 81, "scale-up": 1, "slice-down": 1, "restored": 2, "saved": 8},
}


@pytest.mark.parametrize("name", COUNTS)
def test_real_logs(name):
    lines = (LOGS / name).read_bytes().splitlines()
    events = [event for event in map(parse, lines) if event]
    counted = Counter(event.kind.value for event in events)
    assert {kind: counted[kind] for kind in COUNTS[name]} == COUNTS[name]
    truth = json.loads((LOGS / f"{name.split('.')[0]}.meta.json").read_text())
    steps = [event.step for event in events if event.kind is Kind.STEP]
    assert steps[-1] == truth["derived_from_log"]["last_step_printed"]
    assert all(event.at for event in events) == (".kube." in name)
