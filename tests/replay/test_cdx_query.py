"""CDX queries are parsed like in other CDX servers, and none takes long."""

import pytest

from archiver.errors import InputError
from archiver.http.surt import surt
from archiver.http.urls import parse_url
from archiver.replay.cdx_query import FIELDS, Output, parse_cdx_query


def ask(**parameters):
    return parse_cdx_query(
        {
            name.rstrip("_"): value if isinstance(value, list) else [value]
            for name, value in parameters.items()
        }
    )


def covers(query, url):
    return query.first_key <= surt(parse_url(url)) < query.last_key


@pytest.mark.parametrize(
    ("parameters", "inside", "outside"),
    [
        ({"url": "example.com/a"}, ["http://www.example.com/a/", "https://example.com/a"],
         ["http://example.com/ab", "http://example.com/a?b"]),
        ({"url": "http://example.com/a*"}, ["http://example.com/ab", "http://example.com/a?b"],
         ["http://example.com/b", "http://sub.example.com/a"]),
        ({"url": "example.com/*"}, ["http://example.com/", "http://example.com/x/y"],
         ["http://sub.example.com/", "http://example.com.evil.org/"]),
        ({"url": "example.com", "matchType": "host"}, ["http://example.com/x"],
         ["http://sub.example.com/", "http://example.community/"]),
        ({"url": "*.example.com"}, ["http://example.com/x", "http://a.b.example.com/"],
         ["http://example.community/", "http://badexample.com/"]),
        ({"url": "example.com", "matchType": "domain"}, ["http://sub.example.com/"],
         ["http://example.org/"]),
        ({"url": "example.com/a/", "matchType": "prefix"}, ["http://example.com/a/b"],
         ["http://example.com/ab"]),
    ],
)  # fmt: skip
def test_a_match_type_or_a_star_selects_urls(parameters, inside, outside):
    query = ask(**parameters)

    assert [url for url in inside if not covers(query, url)] == []
    assert [url for url in outside if covers(query, url)] == []


def test_partial_timestamps_cover_their_period():
    query = ask(url="a.example", from_="2024", to="202402")

    assert (query.first, query.last) == (20240000000000, 20240299999999)


@pytest.mark.parametrize(
    ("text", "field", "passing", "failing"),
    [
        ("statuscode:200", "statuscode", "200", "2000"),
        ("!statuscode:[45]..", "statuscode", "301", "404"),
        ("mime:text/.*", "mimetype", "text/html", "image/text/"),
        ("=status:200", "statuscode", "200", "301"),
        ("!=mime:text/html", "mimetype", "image/png", "text/html"),
        ("~original:/a.", "original", "http://a.example/", "http://b.example/"),
        ("~!mimetype:html", "mimetype", "image/png", "text/html"),
    ],
)
def test_filters_follow_the_wayback_machine(text, field, passing, failing):
    (condition,) = ask(url="a.example", filter=text).filters

    assert condition.field == field
    assert condition.passes(passing)
    assert not condition.passes(failing)


@pytest.mark.parametrize(
    ("text", "field", "passing", "failing"),
    [
        ("mime:html", "mimetype", "text/html", "image/png"),
        ("=status:200", "statuscode", "200", "2000"),
        ("~url:https?://a", "original", "http://a.example/x", "ftp://http://a"),
        ("!~status:[45]", "statuscode", "200", "404"),
    ],
)
def test_pywb_filters_are_accepted(text, field, passing, failing):
    (condition,) = parse_cdx_query({"url": ["a.example"], "filter": [text]}, pywb=True).filters

    assert condition.field == field
    assert condition.passes(passing)
    assert not condition.passes(failing)


def test_a_catastrophic_regular_expression_is_fast():
    (condition,) = ask(url="a.example", filter="original:(a*)*b").filters

    assert not condition.passes("a" * 100_000)


def test_other_parameters_are_parsed():
    query = ask(url="a.example", fl="timestamp, url", limit="-5", output="json",
                collapse=["timestamp:4", "digest"], sort="reverse")  # fmt: skip

    assert query.fields == ("timestamp", "original")
    assert (query.limit, query.from_end, query.newest_first) == (5, True, False)
    assert query.collapse == (("timestamp", 4), ("digest", 0))
    assert query.output is Output.JSON
    assert ask(url="a.example").fields == FIELDS


@pytest.mark.parametrize(
    "parameters",
    [
        {}, {"url": ""}, {"url": "ftp://a.example/"}, {"url": "a.example", "limit": "0"},
        {"url": "a.example", "limit": "many"}, {"url": "a.example", "matchType": "near"},
        {"url": "a.example", "sort": "up"}, {"url": "a.example", "sort": "closest"},
        {"url": "a.example", "output": "xml"}, {"url": "a.example", "fl": "secret"},
        {"url": "a.example", "filter": "nothing"}, {"url": "a.example", "filter": "digest:("},
        {"url": "a.example", "filter": "digest:" + "a" * 501}, {"url": "a.example", "from": "x"},
        {"url": "a.example", "filter": ["digest:a"] * 17}, {"url": "a.example", "collapse": "x"},
        {"url": "a.example", "collapse": "digest:x"}, {"url": "a.example", "limit": "-10001"},
        {"url": "a.example", "pages": "1"}, {"url": "a.example", "showPagedIndex": "true"},
        {"url": "a.example", "page": "x"}, {"url": "a.example", "pageSize": "0"},
        {"url": "a.example", "pageSize": "51"}, {"url": "a.example", "offset": "-1"},
        {"url": "a.example", "page": "0", "limit": "-1"}, {"url": "a.example", "gzip": "maybe"},
        {"url": "a.example/*", "sort": "closest", "closest": "2020"},
        {"url": "a.example", "page": "0", "closest": "2020"},
    ],
)  # fmt: skip
def test_invalid_parameters_are_refused_with_valid_values(parameters):
    with pytest.raises(InputError):
        ask(**parameters)
