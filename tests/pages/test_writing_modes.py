"""Writing modes by style sheets and by script."""

import pytest

from archiver.pages.writing_modes import is_set_vertically, sets_vertical_mode

SENTENCE = "\u5ddd\u306e\u307b\u3068\u308a\u306b\u6c34\u8eca\u304c\u3042\u3063\u305f\u3002"


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        (SENTENCE * 9, True),
        ("\u182e\u1823\u1829\u182d\u1823\u182f " * 9, True),
        ("A page about \u6c34\u8eca, the mill. " * 9, False),
        ("", False),
    ],
)
def test_vertical_scripts_are_recognised_by_most_of_their_letters(text, is_so):
    assert is_set_vertically(text) is is_so


def test_style_rules_are_parsed_in_linear_time():
    css = "a," * 100_000 + "{writing-mode:vertical-rl}" + "{" * 100_000

    assert sets_vertical_mode(css)
