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
def test_a_replay_url_is_parsed_as_written(timestamp, modifier, url):
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
def test_replay_urls_typed_by_users_and_changed_by_proxies_are_parsed(
    path, timestamp, modifier, url
):
    result = parse_replay_path(path)

    assert (result.timestamp_prefix, result.modifier) == (timestamp, modifier)
    assert result.url == (url or "http://example.com/")


@pytest.mark.parametrize("path", ["/web/", "/web/2024/", "/web/2024/ftp://x/", "/web/http://["])
def test_unsupported_urls_are_refused(path):
    with pytest.raises(InvalidUrl):
        parse_replay_path(path)


@given(st.text())
def test_any_path_raises_only_the_documented_error(path):
    with suppress(InvalidUrl):
        parse_replay_path(path)
