"""URLs are parsed and hashed as specified."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import InvalidUrl
from archiver.http.surt import surt
from archiver.http.urls import (
    hash_url,
    is_hash_url,
    join,
    parse_entry_url,
    parse_url,
    redirect_target,
)

ORIGINAL = "http://pawelmhm.github.io/asyncio/python/aiohttp/2016/04/22/asyncio-aiohttp.html"


def test_the_hash_of_an_entry_is_the_md5_of_its_url():
    assert hash_url(parse_url(ORIGINAL)) == "44abc2fd416f673b9c6ae0f5147726a9"
    assert is_hash_url("44abc2fd416f673b9c6ae0f5147726a9")
    assert not is_hash_url("44ABC2FD416F673B9C6AE0F5147726A9")


def test_urls_are_serialised_like_in_browsers_without_the_fragment():
    for text, parsed in [
        ("  HTTP://EXAMPLE.com:80/a b#part ", "http://example.com/a%20b"),
        ("https://example.com", "https://example.com/"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://example.com/a/../b?x=1&y#z", "http://example.com/b?x=1&y"),
    ]:
        assert parse_url(text) == parsed


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "empty"),
        ("hello there", "not a URL"),
        ("example.com/x", "Did you mean https://example.com/x?"),
        ("ftp://example.com/", "ftp:"),
        ("javascript:alert(1)", "javascript:"),
        ("http://user:secret@example.com/", "user name or password"),
        ("http://exa mple.com/", "not a valid URL"),
        ("http://example.com/" + "x" * 9000, "longer"),
        ("http://example.com/\ud800", "characters"),
    ],
)
def test_unsupported_urls_are_refused_with_a_reason(url, reason):
    with pytest.raises(InvalidUrl, match=reason.replace("?", r"\?")):
        parse_url(url)


@given(st.text(max_size=60))
def test_any_text_raises_only_the_documented_error(text):
    with suppress(InvalidUrl):
        assert surt(parse_url(text))


def test_references_are_resolved_or_none():
    base = "http://example.com/a/b"

    assert join(base, "../c?d#e") == "http://example.com/c?d"
    assert join(base, "//other.example/x") == "http://other.example/x"
    for reference in ("data:,x", "javascript:x", "mailto:a@b.c", "http://", "x" * 9000):
        assert join(base, reference) is None


def test_a_redirect_leads_to_its_first_location_that_is_not_empty():
    for status, locations, target in [
        (302, ["/b"], "https://a.example/b"),
        (302, ["", "/b"], "https://a.example/b"),
        (302, ["/b", "/c"], "https://a.example/b"),
        (302, [""], None),
        (302, [], None),
        (200, ["/b"], None),
        (301, ["//ann:secret@b.example/x?a@b"], "https://b.example/x?a@b"),
    ]:
        fields = [("server", "x"), *(("location", each) for each in locations)]

        assert redirect_target("https://a.example/", status, fields) == target


def test_a_user_name_in_a_reference_is_left_out():
    for reference in ["//ann:secret@b.example/", "http://ann@b.example/"]:
        assert join("http://a.example/", reference) == "http://b.example/"


def test_a_route_of_an_application_belongs_to_the_url_of_an_entry():
    for text, parsed in [
        ("https://a.example/#/b", "https://a.example/#/b"),
        ("https://a.example/x?y#!b c", "https://a.example/x?y#!b%20c"),
        (" HTTPS://A.example/#!/b?c=d ", "https://a.example/#!/b?c=d"),
        ("https://a.example/#b", "https://a.example/"),
        ("https://a.example/#:~:text=b", "https://a.example/"),
        *((f"https://a.example/{root}", "https://a.example/") for root in ("#", "#/", "#!", "#!/")),
    ]:
        assert parse_entry_url(text) == parsed
        assert hash_url(parse_url(text)) == hash_url(parsed.partition("#")[0])
