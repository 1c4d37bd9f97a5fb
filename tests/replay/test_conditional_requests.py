"""Conditional and range requests as defined in RFC 9110 §13 and §14."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.replay.conditional_requests import Conditions, Selection, select

TAG = '"abc"'
WHOLE = (200, 0, 100, "")


def generator(*, in_parts=True, length=100, **fields):
    selection = select(Conditions(**fields), TAG, length, in_parts=in_parts)
    return (selection.status, selection.first, selection.end, selection.content_range)


@pytest.mark.parametrize(
    ("field", "first", "end"),
    [
        ("bytes=0-", 0, 100),
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("Bytes= 10-19 ", 10, 20),
        ("bytes=99-", 99, 100),
        ("bytes=90-999999999999999999", 90, 100),
        ("bytes=-1", 99, 100),
        ("bytes=-100", 0, 100),
        ("bytes=-1000", 0, 100),
    ],
)
def test_one_range_is_answered_with_that_part(field, first, end):
    assert generator(range=field) == (206, first, end, f"bytes {first}-{end - 1}/100")


@pytest.mark.parametrize("field", ["bytes=100-", "bytes=999999-", "bytes=100-200", "bytes=-0"])
def test_a_range_after_the_end_is_not_satisfiable(field):
    assert generator(range=field) == (416, 0, 0, "bytes */100")


@pytest.mark.parametrize(
    "field",
    ["", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "lines=1-2", "bytes=0-1,5-6",
     "bytes=--1", "bytes=1-2-3", "bytes=" + "9" * 30 + "-", "bytes=0-1\n"],
)  # fmt: skip
def test_anything_but_a_single_range_is_ignored(field):
    assert generator(range=field) in (WHOLE, (206, 0, 2, "bytes 0-1/100"))
    assert generator(range=field)[0] == 200 or field.strip() == "bytes=0-1"


@pytest.mark.parametrize("validator", [TAG, f" {TAG} "])
def test_a_range_is_sent_if_the_client_has_the_same_version(validator):
    assert generator(range="bytes=0-1", if_range=validator)[0] == 206


@pytest.mark.parametrize("validator", ['"other"', f"W/{TAG}", "Thu, 29 Feb 2024 12:00:01 GMT", "*"])
def test_otherwise_the_whole_body_is_sent(validator):
    assert generator(range="bytes=0-1", if_range=validator) == WHOLE


@pytest.mark.parametrize("field", [TAG, "*", f'"x", {TAG}', f"W/{TAG}", f'"a,b",{TAG}'])
def test_a_cached_version_is_not_sent_again(field):
    assert generator(if_none_match=field, range="bytes=0-1") == (304, 0, 0, "")


@pytest.mark.parametrize("field", ["", '"x"', "abc", 'W/"x"', '"ab', "ABC"])
def test_another_version_is_sent(field):
    assert generator(if_none_match=field) == WHOLE


def test_if_match_and_if_unmodified_since_are_checked_first():
    assert generator(if_match='"x"', if_none_match=TAG)[0] == 412
    assert generator(if_match=f"W/{TAG}")[0] == 412
    assert generator(if_match=f'"x", {TAG}') == WHOLE
    assert generator(if_match="*") == WHOLE


@given(
    st.builds(Conditions, *(st.text() | st.from_regex(r'(W/)?"[a-c]*"') for _ in range(3)),
              st.text() | st.from_regex(r"bytes=[0-9]*-[0-9]*")),
    st.integers(0, 1000),
    st.booleans(),
)  # fmt: skip
def test_any_range_is_within_the_body(conditions, length, in_parts):
    selection = select(conditions, TAG, length, in_parts=in_parts)

    assert isinstance(selection, Selection)
    assert 0 <= selection.first <= selection.end <= length
    assert selection.status != 206 or selection.end > selection.first
