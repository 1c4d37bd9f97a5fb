from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import InvalidUrl
from archiver.http.urls import parse_url
from archiver.replay.addresses import Modifier, ReplayAddress, parse_replay_path, replay_path

URLS = st.builds(
    "{}://{}/{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["example.com", "a.example:8080", "[::1]", "münchen.example"]),
    st.text("abc/.%2e1:@'(),;=+é*~", max_size=12),
    st.sampled_from(["", "?", "?a=1&b=http://x/?y", "?q=%26&r='"]),
).map(parse_url)


@given(st.from_regex(r"([0-9]{14})?", fullmatch=True), st.sampled_from(Modifier), URLS)
def test_an_address_is_read_as_it_was_written(timestamp, modifier, url):
    path = replay_path(timestamp, modifier, url)

    assert parse_replay_path(path) == ReplayAddress(timestamp, modifier, url)


@pytest.mark.parametrize(
    ("path", "timestamp", "modifier", "url"),
    [
        ("/web/2024/https://example.com", "2024", "", "https://example.com/"),
        ("/web/*/example.com/a?b#c", "*", "", "http://example.com/a?b"),
        ("/web/https:/example.com//a", "", "", "https://example.com//a"),
        ("/web/if_/https://example.com/", "", "if_", "https://example.com/"),
        ("/web/20240229120001oe_/http://example.com/", "20240229120001", "im_", None),
        ("/web/2024id_/https%3A%2F%2Fexample.com%2F%3Fa", "2024", "id_", "https://example.com/?a"),
        ("/web/localhost:8080/a", "", "", "http://localhost:8080/a"),
        ("/web/2024/HTTPS://EXAMPLE.com/%7e?%7e", "2024", "", "https://example.com/%7e?%7e"),
    ],
)
def test_addresses_are_read_as_people_and_proxies_write_them(path, timestamp, modifier, url):
    found = parse_replay_path(path)

    assert (found.timestamp_prefix, found.modifier) == (timestamp, modifier)
    assert found.url == (url or "http://example.com/")


@pytest.mark.parametrize("path", ["/web/", "/web/2024/", "/web/2024/ftp://x/", "/web/http://["])
def test_what_can_not_be_in_an_archive_is_refused(path):
    with pytest.raises(InvalidUrl):
        parse_replay_path(path)


@given(st.text())
def test_no_path_raises_anything_else(path):
    with suppress(InvalidUrl):
        parse_replay_path(path)
