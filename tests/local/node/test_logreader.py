import asyncio
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.node.cri import encode, stamp
from xlaunch.local.node.logreader import Filter, read, tail_start
from xlaunch.local.node.logs import ContainerLog

SECOND = 10**9
T0 = 1_795_953_600 * SECOND


class Ticks:
    """A wall clock that moves one second with each entry."""

    def __init__(self):
        self.now = T0 - SECOND

    def __call__(self):
        self.now += SECOND
        return self.now


def new_log(path, **options):
    return ContainerLog(path / "0.log", wall_ns=Ticks(), **options)


def lines(log, *texts):
    log.write(b"stdout", [(False, text) for text in texts])


async def collect(log, chosen=None, **options):
    return [block async for block in read(log, chosen or Filter(), **options)]


def served(log, chosen=None, **options):
    return b"".join(asyncio.run(collect(log, chosen, **options)))


@pytest.mark.parametrize(
    ("tail", "expected"),
    [(None, b"a\nb\nc\n"), (0, b""), (1, b"c\n"), (2, b"b\nc\n"), (3, b"a\nb\nc\n"), (9, b"a\nb\nc\n")],
)
def test_tail(tmp_path, tail, expected):
    log = new_log(tmp_path)
    lines(log, b"a", b"b", b"c")
    assert served(log, tail=tail) == expected


def test_an_empty_log(tmp_path):
    assert served(new_log(tmp_path), tail=5) == b""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"since": stamp(T0 + SECOND)}, b"b\nc\n"),
        ({"since": stamp(T0 + SECOND + 1)}, b"c\n"),
        ({"limit": 3}, b"a\nb"),
        ({"limit": 100}, b"a\nb\nc\n"),
        (
            {"timestamps": True, "since": stamp(T0 + SECOND)},
            b"2026-11-29T12:00:01.000000000Z b\n2026-11-29T12:00:02.000000000Z c\n",
        ),
        ({"timestamps": True, "limit": 35}, b"2026-11-29T12:00:00.000000000Z a\n20"),
    ],
)
def test_filters(tmp_path, options, expected):
    log = new_log(tmp_path)
    lines(log, b"a", b"b", b"c")
    assert served(log, Filter(**options)) == expected


def test_parts_of_a_line_bear_one_timestamp(tmp_path):
    log = new_log(tmp_path)
    log.write(b"stdout", [(True, b"one "), (False, b"line")])
    assert served(log, Filter(timestamps=True)) == b"2026-11-29T12:00:00.000000000Z one line\n"


def test_lines_that_do_not_parse_are_skipped(tmp_path):
    log = new_log(tmp_path)
    lines(log, b"a")
    with log.path.open("ab") as file:
        file.write(b"garbage\n")
    lines(log, b"b")
    assert served(log) == b"a\nb\n"


def test_bytes_pass_unchanged(tmp_path):
    log = new_log(tmp_path)
    lines(log, b"\xff\x00\r50%\r", "ü".encode())
    assert served(log) == b"\xff\x00\r50%\r\n" + "ü\n".encode()


async def following(log, chosen=None):
    """Starts a follower; returns its task and what it has received so far."""
    received = []

    async def run():
        async for block in read(log, chosen or Filter(), follow=True):
            received.append(block)  # noqa: PERF401 - each as it comes

    task = asyncio.ensure_future(run())
    await asyncio.sleep(0)
    return task, received


def test_follow_gets_what_is_written_later_and_ends_with_the_log(tmp_path):
    async def scenario():
        log = new_log(tmp_path)
        lines(log, b"before")
        task, received = await following(log)
        lines(log, b"after")
        await asyncio.sleep(0.001)
        assert b"".join(received) == b"before\nafter\n"
        assert not task.done()
        lines(log, b"last")
        log.close()
        await task
        return b"".join(received)

    assert asyncio.run(scenario()) == b"before\nafter\nlast\n"


def test_follow_goes_on_across_rotations_and_only_the_current_file_is_served(tmp_path):
    async def scenario():
        log = new_log(tmp_path, rotate_at=400)
        task, received = await following(log)
        texts = [b"line %d" % number for number in range(60)]
        for text in texts:
            lines(log, text)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        log.close()
        await task
        assert log.rotations >= 3
        return b"".join(received), texts

    received, texts = asyncio.run(scenario())
    assert received == b"".join(text + b"\n" for text in texts)
    late = served(ContainerLog(tmp_path / "0.log"))
    assert received.endswith(late)
    assert 0 < len(late) < len(received)


def test_a_reader_that_starts_late_reads_the_current_file_only(tmp_path):
    log = new_log(tmp_path, rotate_at=1)
    lines(log, b"rotated away")
    assert served(log) == b""
    assert (tmp_path / "rotated.log").read_bytes().endswith(b"rotated away\n")


def test_follow_stops_at_the_limit(tmp_path):
    async def scenario():
        log = new_log(tmp_path)
        task, received = await following(log, Filter(limit=4))
        lines(log, b"abcdef")
        await asyncio.wait_for(task, 1)
        return b"".join(received)

    assert asyncio.run(scenario()) == b"abcd"


def test_nothing_is_written_to_a_closed_log(tmp_path):
    log = new_log(tmp_path)
    log.close()
    lines(log, b"late")
    assert log.path.read_bytes() == b""


def test_a_large_log_comes_in_blocks(tmp_path):
    log = new_log(tmp_path)
    lines(log, *[b"x" * 200] * 3000)
    blocks = asyncio.run(collect(log))
    assert len(blocks) > 5
    assert b"".join(blocks) == (b"x" * 200 + b"\n") * 3000


@given(st.lists(st.binary(max_size=40).map(lambda text: text.replace(b"\n", b"")), max_size=30), st.integers(0, 35))
def test_tail_start_is_the_last_lines_of_any_file(texts, count):
    encoded = [encode(stamp(T0), b"stdout", False, text) for text in texts]
    file = io.BytesIO(b"".join(encoded))
    start = tail_start(file, count)
    assert file.getvalue()[start:] == b"".join(encoded[len(encoded) - min(count, len(encoded)) :])
