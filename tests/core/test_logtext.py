r"""Log bytes are split at "\n" only and come out as they went in, however the network cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.logtext import Piece, Splitter, since_time, sort_key

T = b"2026-11-29T12:00:00.000000001Z"


def pieces(*chunks, longest=64 * 1024):
    splitter = Splitter(longest)
    found = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    return found + splitter.finish()


CASES = [
    ("a line", [T + b" hello\n"], [Piece(T, b"hello\n", True)]),
    ("an empty line", [T + b" \n"], [Piece(T, b"\n", True)]),
    ("a progress bar keeps its carriage returns", [T + b" 1%\r2%\r3%\n"], [Piece(T, b"1%\r2%\r3%\n", True)]),
    (
        "other line ends of Unicode are text",
        [T + " a\x0b\x0c\x85b\n".encode()],
        [Piece(T, " a\x0b\x0c\x85b\n".encode()[1:], True)],
    ),
    ("bytes that are no UTF-8", [T + b" \xff\xfe\n"], [Piece(T, b"\xff\xfe\n", True)]),
    ("CRLF", [T + b" dos\r\n"], [Piece(T, b"dos\r\n", True)]),
    ("cut inside the time", [T[:9], T[9:] + b" x\n"], [Piece(T, b"x\n", True)]),
    ("cut inside the text", [T + b" he", b"llo\n"], [Piece(T, b"hello\n", True)]),
    ("the last line lacks its end", [T + b" tail"], [Piece(T, b"tail", False)]),
    ("the stream ends inside a time: it will come again", [T + b" a\n" + T[:13]], [Piece(T, b"a\n", True)]),
    ("the stream ends after a time", [T + b" "], []),
    (
        "the kubelet's own words",
        [b"unable to retrieve container logs for containerd://1"],
        [Piece(b"", b"unable to retrieve container logs for containerd://1", False)],
    ),
    (
        "the kubelet's own words, with a line end",
        [b"failed to try resolving symlinks\n"],
        [Piece(b"", b"failed to try resolving symlinks\n", True)],
    ),
    ("a time without fraction", [b"2026-11-29T12:00:00Z x\n"], [Piece(b"2026-11-29T12:00:00Z", b"x\n", True)]),
    (
        "a time in another zone",
        [b"2026-11-29T13:00:00.5+01:00 x\n"],
        [Piece(b"2026-11-29T13:00:00.5+01:00", b"x\n", True)],
    ),
    ("text that looks like a time is text", [T + b" " + T + b" x\n"], [Piece(T, T + b" x\n", True)]),
]


@pytest.mark.parametrize(("chunks", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_splitting(chunks, expected):
    assert pieces(*chunks) == expected


def test_a_line_that_does_not_end_is_passed_on_in_parts():
    line = b"x" * 100
    found = pieces(T + b" " + line, line, line + b"\n" + T + b" next\n", longest=64)
    assert [(piece.begins, piece.ends) for piece in found] == [
        (True, False),
        (False, False),
        (False, True),
        (True, True),
    ]
    assert b"".join(piece.text for piece in found) == line * 3 + b"\nnext\n"


def test_a_time_at_the_start_of_a_later_part_is_text():
    found = pieces(T + b" " + b"x" * 80, T + b" y\n", longest=64)
    assert b"".join(piece.text for piece in found) == b"x" * 80 + T + b" y\n"


@given(
    st.lists(st.binary(max_size=60).map(lambda text: text.replace(b"\n", b"\r")), max_size=12),
    st.lists(st.integers(0, 900), max_size=20),
    st.sampled_from([1, 50, 64 * 1024]),
)
def test_however_it_is_cut_the_text_stays(lines, cuts, longest):
    data = b"".join(T + b" " + line + b"\n" for line in lines)
    borders = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    found = pieces(*(data[a:b] for a, b in pairwise(borders)), longest=max(longest, 40))
    assert b"".join(piece.text for piece in found) == b"".join(line + b"\n" for line in lines)
    assert sum(piece.begins for piece in found) == sum(piece.ends for piece in found) == len(lines)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (b"2026-11-29T12:00:00Z", b"2026-11-29T12:00:00.1Z"),
        (b"2026-11-29T12:00:00.09Z", b"2026-11-29T12:00:00.1Z"),
        (b"2026-11-29T12:00:00.999999999Z", b"2026-11-29T12:00:01Z"),
        (b"2026-11-29T13:00:00.1+01:00", b"2026-11-29T12:00:00.2Z"),
        (b"2026-12-31T23:59:59Z", b"2026-12-31T23:30:00-00:30"),
    ],
)
def test_keys_sort_as_moments(earlier, later):
    assert sort_key(earlier) < sort_key(later)


def test_the_same_moment_has_one_key():
    assert sort_key(b"2026-11-29T12:00:00.5Z") == sort_key(b"2026-11-29T17:30:00.500000+05:30")


def test_what_is_no_time_sorts_first():
    assert sort_key(b"") == b""


@pytest.mark.parametrize(
    ("key", "margin", "text"),
    [
        (b"2026-11-29T12:00:05.999999999", 2, "2026-11-29T12:00:03Z"),
        (b"2026-11-29T00:00:00.000000000", 1, "2026-11-28T23:59:59Z"),
    ],
)
def test_since_time_is_in_whole_seconds_and_a_little_before(key, margin, text):
    assert since_time(key, margin) == text
