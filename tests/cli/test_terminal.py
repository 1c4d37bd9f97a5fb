"""Rows and JSON: parseable, and harmless to a terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.cli.terminal import JsonArray, clean, write_row


def test_a_row_is_one_line_of_fields(capsys: pytest.CaptureFixture[str]) -> None:
    write_row("a", "b\tc\nd", "", "é")

    assert capsys.readouterr().out == "a\tb c d\t\té\n"


def test_control_characters_of_pages_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_row("\x1b[2Jtitle\a\r", "\u202eabc\x9b")

    assert capsys.readouterr().out == "[2Jtitle\tabc\n"


def test_an_array_is_written_item_by_item(capsys):
    for count in (0, 1, 3):
        array = JsonArray()
        for number in range(count):
            array.add({"number": number})
        array.end()

        assert json.loads(capsys.readouterr().out) == [{"number": n} for n in range(count)], count


@given(st.text())
def test_clean_text_has_no_controls_but_lines_and_tabs(text: str) -> None:
    assert all(character in "\n\t" or character >= " " for character in clean(text))
