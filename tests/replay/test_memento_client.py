"""Mementos: our links, and URLs, responses and hostile values of other archives."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.http.headers import parse_head
from archiver.replay.memento import Memento, memento, original, timegate, timemap, write_links
from archiver.replay.memento_client import (
    moment_of,
    named_mementos,
    nearest_first,
    original_head,
    read_address,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WAYBACK = "https://web.archive.org/web/20130508055413"
ADDRESSES = {
    f"{WAYBACK}/http://a.example/b?c=1": f"{WAYBACK}id_/http://a.example/b?c=1",
    f"{WAYBACK}if_/http://a.example/": f"{WAYBACK}id_/http://a.example/",
    f"{WAYBACK}/https:/a.example/x": f"{WAYBACK}id_/https://a.example/x",
    "https://arquivo.pt/wayback/20130508055413mp_/http://a.example/": (
        "https://arquivo.pt/wayback/20130508055413id_/http://a.example/"
    ),
    "https://webarchive.is/20130508055413/http://a.example/": (
        "https://webarchive.is/20130508055413id_/http://a.example/"
    ),
    "https://archive.ph/20130508055413/http://a.example/": (
        "https://archive.ph/20130508055413/http://a.example/"
    ),
}
_fields = st.lists(
    st.tuples(
        st.sampled_from(
            "content-type content-encoding link location memento-datetime x-archive-orig-server "
            "x-archive-orig-transfer-encoding x-archive-orig-set-cookie".split()
        ),
        st.text(st.characters(max_codepoint=255)),
    )
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_memento_url_is_changed_to_its_raw_form(address):
    assert read_address(address).raw == ADDRESSES[address]


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://a.example/",
        f"{WAYBACK[:-2]}/http://a.example/",
        f"{WAYBACK}/ftp://a.example/",
        f"{WAYBACK}/http://",
        "https://web.archive.org/web/20139908055413/http://a.example/",
    ],
)
def test_urls_without_a_raw_form_are_none(address):
    assert read_address(address) is None


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("Wed, 08 May 2013 05:54:13 GMT", datetime(2013, 5, 8, 5, 54, 13, tzinfo=UTC)),
        ("Wed, 08 May 2030 05:54:13 GMT", None),
        ("Mon, 08 May 1950 05:54:13 GMT", None),
        ("yesterday", None),
    ],
)
def test_a_memento_cannot_be_in_the_future(field, expected):
    assert moment_of((("memento-datetime", field),), NOW) == expected


def test_mementos_in_a_response_are_found_nearest_first():
    link = (
        '<http://a.example/>; rel="original", '
        '</web/20120101000000/http://a.example/>; rel="first memento"; '
        'datetime="Sun, 01 Jan 2012 00:00:00 GMT", '
        '<https://b.example/20140101000000/http://a.example/>; rel="next memento"; '
        'datetime="Wed, 01 Jan 2014 00:00:00 GMT", <x>; rel=memento; datetime="no day"'
    )

    results = [*named_mementos((("link", link),), WAYBACK, NOW)]

    first = Memento(
        "https://web.archive.org/web/20120101000000/http://a.example/",
        datetime(2012, 1, 1, tzinfo=UTC),
    )
    assert results[0] == first
    assert nearest_first(results, datetime(2013, 6, 1, tzinfo=UTC)) == results[::-1]
    assert nearest_first([*results, *results], datetime(2010, 1, 1, tzinfo=UTC)) == results


def test_the_original_headers_are_restored_from_the_response():
    head = original_head(
        200,
        [
            ("content-type", "text/html;charset=utf-8"),
            ("x-archive-orig-content-type", "text/html"),
            ("x-archive-orig-server", "Apache"),
            ("x-archive-orig-content-length", "7"),
            ("x-archive-orig-set-cookie", "a=b"),
            ("content-encoding", "gzip"),
            ("server", "nginx"),
        ],
        length=3,
        location=None,
    )

    assert parse_head(head).headers == (
        ("content-type", "text/html"),
        ("server", "Apache"),
        ("content-encoding", "gzip"),
        ("content-length", "3"),
    )


@given(st.integers(200, 599), _fields, st.none() | st.integers(0, 9), st.none() | st.text())
def test_any_response_gives_headers_that_match_its_body(status, headers, length, location):
    result = parse_head(original_head(status, headers, length=length, location=location))

    assert result.status == status
    assert result.is_chunked is (length is None)
    assert [value for name, value in result.headers if name == "content-length"] == (
        [] if length is None else [str(length)]
    )
    assert "set-cookie" not in dict(result.headers)


def test_memento_links_conform_to_rfc_8288():
    moment = datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC)

    header = write_links(
        (
            original("https://example.com/"),
            timegate("/timegate/https://example.com/"),
            timemap("/timemap/link/https://example.com/"),
            memento("/web/20240229120001/https://example.com/", moment, "first", "last"),
        )
    )

    assert header == (
        '<https://example.com/>; rel="original", '
        '</timegate/https://example.com/>; rel="timegate", '
        '</timemap/link/https://example.com/>; rel="timemap"; type="application/link-format", '
        '</web/20240229120001/https://example.com/>; rel="first last memento"; '
        'datetime="Thu, 29 Feb 2024 12:00:01 GMT"'
    )


def test_link_targets_cannot_end_their_brackets_or_the_header():
    header = write_links((original('https://example.com/a>b"c\r\nd é'),))

    assert header == '<https://example.com/a%3Eb%22c%0D%0Ad%20%C3%A9>; rel="original"'
