"""``Link`` fields with any content."""

import pytest

from archiver.http.headers import link_values


@pytest.mark.parametrize(
    ("value", "references"),
    [
        ('<a>; rel="x, <y>", <b>', ["a", "b"]),
        (" ,\t, <a>,,<b>", ["a", "b"]),
        ("<<a>", ["a"]),
        ("<a", []),
        ("", []),
    ],
)
def test_links_are_found_and_invalid_parts_are_skipped(value, references):
    assert [reference for reference, _ in link_values(value)] == references


@pytest.mark.parametrize("piece", ["<", ",", " ,", "<a>;", '<a>"', "<a>;b=", "<a", "\\"])
def test_a_megabyte_of_repeated_text_is_parsed_in_linear_time(piece):
    """A parser that looks ahead from every position would take minutes."""
    value = piece * ((1 << 20) // len(piece))

    assert {reference for reference, _ in link_values(value)} <= {"a"}
