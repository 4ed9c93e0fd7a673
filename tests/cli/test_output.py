"""Tables fit the terminal where they can."""

from xlaunch.cli.output import Table, text_of

TABLE = Table(["NAME", "QUEUE", "OWNER", "AGE"], [["a-name", "a-queue", "somebody", "1d"]], optional=("OWNER", "QUEUE"))


def test_a_wide_terminal_or_none_gets_all():
    wide = "NAME     QUEUE     OWNER      AGE\na-name   a-queue   somebody   1d\n"
    assert text_of(TABLE) == text_of(TABLE, 33) == wide


def test_optional_columns_go_in_their_order():
    assert text_of(TABLE, 32) == "NAME     QUEUE     AGE\na-name   a-queue   1d\n"
    assert text_of(TABLE, 20) == "NAME     AGE\na-name   1d\n"


def test_what_is_left_is_never_cut():
    assert text_of(TABLE, 3) == "NAME     AGE\na-name   1d\n"


def test_no_rows_are_one_sentence():
    assert text_of(Table(["NAME"], [], "There is none.", optional=("NAME",)), 10) == "There is none.\n"


def test_a_cell_stays_in_its_row_and_steers_no_terminal():
    assert text_of(Table(["OWNER", "AGE"], [["a\n\x1b[31mb", "1d"]])) == "OWNER       AGE\na ^[[31mb   1d\n"
