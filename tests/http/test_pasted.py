from archiver.config import TRACKERS
from archiver.http.urls import address_in, search_words, unwrapped, with_scheme, without_trackers


def test_a_missing_scheme_is_added_to_addresses():
    for text, expected in [
        ("example.org/x", "https://example.org/x"),
        (" www.example.org ", "https://www.example.org"),
        ("example.org:8080/x?y#z", "http://example.org:8080/x?y#z"),
        ("example.org:443", "https://example.org:443"),
        ("127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
        ("192.168.1.10/router", "http://192.168.1.10/router"),
        ("[::1]:8080/x", "http://[::1]:8080/x"),
        ("localhost:8080/x", "http://localhost:8080/x"),
        ("localhost", "http://localhost"),
        ("3.14", "3.14"),
        ("http://example.org", "http://example.org"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("a@b.example", "a@b.example"),
        ("-example.org", "-example.org"),
        ("two words", "two words"),
        ("word", "word"),
        ("", ""),
    ]:
        assert with_scheme(text) == expected


def test_only_tracking_parameters_are_removed():
    for url, bare in [
        ("https://a.example/?utm_source=x&UTM_Medium=y", "https://a.example/"),
        (
            "https://a.example/?id=1&fbclid=z&b=%20#p?utm_x=1",
            "https://a.example/?id=1&b=%20#p?utm_x=1",
        ),
        ("https://a.example/?q=utm_source", "https://a.example/?q=utm_source"),
        ("https://a.example/?=&&", "https://a.example/?=&&"),
    ]:
        assert without_trackers(url, TRACKERS) == bare


def test_search_words_are_distinguished_from_addresses():
    for text, words in [
        (" red kite ", "red kite"),
        ("kite", "kite"),
        ("tag:birds", "tag:birds"),
        ("version 3.14", "version 3.14"),
        ("-example.org", "-example.org"),
        ("what is ftp:// used for", "what is ftp:// used for"),
        ("node.js", "node.js"),
        ("jquery.min.js", "jquery.min.js"),
        (" README.md ", "README.md"),
        ("Bericht-2024.PDF", "Bericht-2024.PDF"),
        ("node.js/docs", ""),
        ("https://node.js", ""),
        ("www.gov.md", ""),
        ("crates.rs", ""),
        ("node.js\nexample.org", ""),
        (".md", ".md"),
        ("example.org/kite", ""),
        ("localhost:8080/x", ""),
        ("http://1 1/", ""),
        ("kite\nheron", ""),
        ("", ""),
    ]:
        assert search_words(text) == words


def test_words_that_may_be_an_address_are_reported():
    for words, address in [
        ("node.js", "https://node.js"),
        ("example.org", "https://example.org"),
        ("http://example.org/x", "http://example.org/x"),
        ("ftp://example.org/x", ""),
        ("example.org kites", ""),
        ("site:example.org", ""),
        ("kite", ""),
        ("3.14", ""),
    ]:
        assert address_in(words) == address


def test_an_address_that_shows_another_page_means_that_page():
    for text, expected in [
        ("view-source:https://a.example/?b=1", "https://a.example/?b=1"),
        ("about:reader?url=https%3A%2F%2Fa.example%2F%3Fb%3D1", "https://a.example/?b=1"),
        ("read://https_a.example/?url=https%3A%2F%2Fa.example%2F", "https://a.example/"),
        (
            "chrome-extension://klbi/suspended.html#ttl=A%20b&pos=0&uri=https://a.example/?b=1&c=2",
            "https://a.example/?b=1&c=2",
        ),
        (
            "moz-extension://1-2/park.html?title=T&url=https%3A%2F%2Fa.example%2Fx%26y&tabId=3",
            "https://a.example/x&y",
        ),
        (
            "chrome-distiller://0_9/?time=1&title=T&url=https%3A%2F%2Fa.example%2F",
            "https://a.example/",
        ),
        ("feed:https://a.example/rss", "https://a.example/rss"),
        ("feed://a.example/rss", "http://a.example/rss"),
        ("https://a.example/?url=https%3A%2F%2Fb.example%2F", None),
        ("javascript:location='https://a.example/?url=https://b.example'", None),
        ("about:blank", None),
    ]:
        assert unwrapped(text) == (expected or text)
