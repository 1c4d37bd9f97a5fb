import pytest

from archiver.config import TRACKERS
from archiver.urls.pasted import with_scheme, without_trackers


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("example.org/x", "https://example.org/x"),
        (" www.example.org ", "https://www.example.org"),
        ("example.org:8080/x?y#z", "https://example.org:8080/x?y#z"),
        ("http://example.org", "http://example.org"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("a@b.example", "a@b.example"),
        ("two words", "two words"),
        ("word", "word"),
        ("", ""),
    ],
)
def test_a_scheme_is_put_before_what_can_only_be_an_address(given, meant):
    assert with_scheme(given) == meant


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("https://a.example/?utm_source=x&UTM_Medium=y", "https://a.example/"),
        (
            "https://a.example/?id=1&fbclid=z&b=%20#p?utm_x=1",
            "https://a.example/?id=1&b=%20#p?utm_x=1",
        ),
        ("https://a.example/?q=utm_source", "https://a.example/?q=utm_source"),
        ("https://a.example/?=&&", "https://a.example/?=&&"),
    ],
)
def test_only_named_parameters_are_dropped_and_the_rest_stays_as_it_was(url, bare):
    assert without_trackers(url, TRACKERS) == bare
