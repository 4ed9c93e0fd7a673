import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.node.cri import LONGEST_PART, Entry, LineCutter, decode, encode, stamp

NOW = stamp(1_795_953_600_000_000_042)


def cut(*pieces):
    cutter = LineCutter()
    return [each for piece in pieces for each in cutter.feed(piece)] + list(cutter.end())


def test_stamps_have_nine_digits():
    assert NOW == b"2026-11-29T12:00:00.000000042Z"


@given(st.integers(0, 4 * 10**18), st.integers(0, 4 * 10**18))
def test_stamps_compare_like_times(one, other):
    assert (stamp(one) < stamp(other)) == (one < other)


@pytest.mark.parametrize(
    ("pieces", "entries"),
    [
        ([b"a\nb\n"], [(False, b"a"), (False, b"b")]),
        ([b"a", b"b\n"], [(False, b"ab")]),
        ([b"no newline"], [(False, b"no newline")]),
        ([b"10%\r20%\r\n"], [(False, b"10%\r20%\r")]),
        ([b"\xff\xfe\n"], [(False, b"\xff\xfe")]),
        ([b"\n\n"], [(False, b""), (False, b"")]),
        ([], []),
    ],
)
def test_lines(pieces, entries):
    assert cut(*pieces) == entries


def test_a_long_line_is_written_in_parts():
    line = b"x" * (2 * LONGEST_PART + 3)
    assert [(partial, len(part)) for partial, part in cut(line + b"\n")] == [
        (True, LONGEST_PART),
        (True, LONGEST_PART),
        (False, 3),
    ]


@given(st.lists(st.binary(max_size=50)), st.binary(min_size=1, max_size=5))
def test_what_was_written_comes_back(pieces, tail):
    whole = b"".join([*pieces, tail])
    text = b"".join(decode(encode(NOW, b"stdout", *entry)).text() for entry in cut(*pieces, tail))
    assert text == (whole if whole.endswith(b"\n") else whole + b"\n")


@given(st.lists(st.integers(1, 3 * LONGEST_PART), max_size=6))
def test_long_lines_come_back_whatever_the_pieces(sizes):
    whole = b"".join(bytes([65 + i]) * size + b"\n" for i, size in enumerate(sizes))
    pieces = [whole[at : at + 5000] for at in range(0, len(whole), 5000)]
    assert b"".join(Entry(NOW, b"stdout", *entry).text() for entry in cut(*pieces)) == whole


@pytest.mark.parametrize("line", [b"", b"x\n", b"2026 stdout X a", b"2026 stdin F a", b"2026 stdout F"])
def test_other_lines_are_refused(line):
    with pytest.raises(ValueError):
        decode(line)
