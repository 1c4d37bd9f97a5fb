"""Heads are split only at line ends that HTTP allows."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archiver.errors import InvalidRecord
from archiver.http.headers import link_values, parse_head, without_fields

LATIN_1 = st.characters(max_codepoint=0xFF, exclude_characters="\r\n\0")
VALUES = st.text(LATIN_1).map(lambda text: text.strip(" \t"))
NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_!#$%&'*+.^`|~", min_size=1)


@given(
    st.lists(st.tuples(NAMES, VALUES)),
    st.sampled_from([b"\r\n", b"\n"]),
    st.integers(100, 999),
    VALUES,
)
@example([("location", "/\x85\x1c\x1d\x1e\x0b\x0cx"), ("x", "\xa0a\x85")], b"\r\n", 302, "Fo\x85")
def test_latin_1_values_are_returned_unchanged(fields, end, status, reason):
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in fields)]
    head = end.join(line.encode("latin-1") for line in [*lines, "", ""])

    parsed = parse_head(head)

    assert (parsed.status, parsed.reason) == (status, reason)
    assert list(parsed.headers) == fields


@given(st.binary())
def test_only_a_missing_status_line_is_an_error(data):
    parsed = parse_head(b"HTTP/1.1 200 OK\r\n" + data)

    assert all(not set(value) & set("\r\n\0") for _, value in parsed.headers)


def test_a_head_without_a_status_line_is_refused():
    with pytest.raises(InvalidRecord, match="status line"):
        parse_head(b"")


@given(st.lists(st.tuples(NAMES, VALUES)), st.sampled_from(["\r\n", "\n"]))
def test_removing_fields_keeps_the_others_unchanged(fields, end):
    mixed = [("Set-Cookie", "a=b"), *fields, ("set-cookie", f"c=d{end} folded")]
    lines = [f"{name}: {value}" for name, value in mixed]
    head = end.join(("HTTP/1.1 200 OK", *lines, "", "")).encode("latin-1")

    remaining = parse_head(without_fields(head, {"set-cookie"})).headers

    assert remaining == tuple(each for each in parse_head(head).headers if each[0] != "set-cookie")


def test_links_are_found_and_invalid_parts_are_skipped():
    for value, references in [
        ('<a>; rel="x, <y>", <b>', ["a", "b"]),
        (" ,\t, <a>,,<b>", ["a", "b"]),
        ("<<a>", ["a"]),
        ("<a", []),
        ("", []),
    ]:
        assert [reference for reference, _ in link_values(value)] == references


def test_a_megabyte_of_repeated_text_is_parsed_in_linear_time():
    """A parser that looks ahead from every position would take minutes."""
    for piece in ["<", ",", " ,", "<a>;", '<a>"', "<a>;b=", "<a", "\\"]:
        value = piece * ((1 << 20) // len(piece))

        assert {reference for reference, _ in link_values(value)} <= {"a"}
