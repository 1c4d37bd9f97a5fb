"""SURT keys equal those of the ``surt`` library.

That library is AGPL and so not a dependency; ``benchmarks/surt_oracle.py`` compares both.
"""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import InvalidUrl
from archiver.http.surt import MAX_KEY_BYTES, shortened, surt
from archiver.http.urls import MAX_CHARACTERS, parse_url

SESSION = "0123456789ABCDEF0123456789abcdef"
KEYS = [
    ("http://www.example.com/", "com,example)/"),
    ("https://www2.Example.com:443/A/b/?z=1&a=2", "com,example)/a/b?a=2&z=1"),
    ("http://example.com/?", "com,example)/"),
    ("http://example.co.uk/%7Euser", "uk,co,example)/~user"),
    # hosts
    ("http://127.0.0.1:8000/page-1/", "1,0,0,127:8000)/page-1"),
    ("https://192.168.1.10/a", "10,1,168,192)/a"),
    ("http://www.10.0.0.1.example/", "example,1,0,0,10)/"),
    ("http://[::1]:8080/status", "::1:8080)/status"),
    ("https://[2001:db8::1]/", "2001:db8::1)/"),
    ("http://example.com:8080", "com,example:8080)/"),
    ("http://example.com./", "com,example)/"),
    ("http://a..example.com/", "com,example,a)/"),
    ("http://www.com/", "com)/"),
    ("http://www-1.example/", "example,www-1)/"),
    ("https://bücher.example/Straße", "example,xn--bcher-kva)/stra%c3%9fe"),
    ("http://www.b.example:0/", "example,b)/"),
    # paths
    ("http://localhost/a/b/../c//d/", "localhost)/a/c/d"),
    ("http://example.com/a//b///c//", "com,example)/a/b/c"),
    ("http://example.com//evil.example/x", "com,example)/evil.example/x"),
    ("http://example.com/a%2Fb%2f%2fc", "com,example)/a/b/c"),
    ("http://example.com/a/%252e%252e/b", "com,example)/b"),
    (
        "https://web.archive.org/web/2014/http://a.example/",
        "org,archive,web)/web/2014/http:/a.example",
    ),
    ("https://en.wikipedia.org/wiki/C++_(x)", "org,wikipedia,en)/wiki/c++_(x)"),
    # escapes
    ("http://example.com/%2525", "com,example)/%25"),
    ("http://example.com/100%25", "com,example)/100%25"),
    ("http://example.com/100%", "com,example)/100%25"),
    ("http://example.com/%E4%BD%A0", "com,example)/%e4%bd%a0"),
    ("http://example.com/%4%31", "com,example)/a"),
    ("http://example.com/%%34%31", "com,example)/a"),
    ("http://example.com/a b?c d", "com,example)/a%20b?c%20d"),
    ("http://example.com/a%23b?c%23d", "com,example)/a%23b?c%23d"),
    ("http://example.com/a%3Fb=1?c", "com,example)/a?b=1?c"),
    ("https://example.com/~a'b\"c<d>|e^f`g{h}", "com,example)/~a'b\"c<d>|e^f`g{h}"),
    # queries
    ("http://example.com/?b=1&a=2&B=0&a=1", "com,example)/?a=1&a=2&b=0&b=1"),
    ("http://example.com/?a=1&a!=2&a", "com,example)/?a&a=1&a!=2"),
    ("http://example.com/?a&&b=&", "com,example)/?&&a&b="),
    ("http://example.com/?x=%26y=2&a", "com,example)/?a&x=&y=2"),
    ("http://example.com/?Q=%C3%9C", "com,example)/?q=%c3%9c"),
    ("https://www.youtube.com/watch?v=dQw4&t=42s", "com,youtube)/watch?t=42s&v=dqw4"),
    # sessions
    (f"http://example.com/a.jsp?jsessionid={SESSION}&x=1", "com,example)/a.jsp?x=1"),
    (f"http://example.com/?a=1&PHPSESSID={SESSION}", "com,example)/?&a=1"),
    (f"http://example.com/?sid={SESSION}", "com,example)/"),
    (f"http://example.com/?a=1&sid={SESSION}&b=2", "com,example)/?a=1&b=2"),
    (f"http://example.com/?sid={SESSION}0", f"com,example)/?sid={SESSION.lower()}0"),
    ("http://example.com/?ASPSESSIONIDQRSTUVWX=ABCDEFGHIJKLMNOPQRSTUVWX&b", "com,example)/?b"),
    ("http://example.com/?cfid=12&cftoken=34&b=2", "com,example)/?b=2"),
    ("http://example.com/(S(abcdefghij0123456789klmn))/p.aspx?x", "com,example)/p.aspx?x"),
    ("http://example.com/a/(abcdefghij0123456789klmn)/P.ASPX", "com,example)/a/p.aspx"),
    (f"http://example.com/p;jsessionid={SESSION}", f"com,example)/p;jsessionid={SESSION.lower()}"),
]
PATHS = st.text(st.sampled_from("aB1/.%24 ?&=;ü\\~"), max_size=40)


def test_keys_equal_those_of_the_surt_library():
    for url, key in KEYS:
        assert surt(parse_url(url)) == key


@given(st.text(max_size=60) | PATHS.map("http://www.example.com/{}".format))
def test_a_key_is_printable_ascii_without_a_space(text):
    with suppress(InvalidUrl):
        assert re.fullmatch(r"[!-~]*\)/[!-~]*", surt(parse_url(text)))


@pytest.mark.parametrize(
    "hostile", ["%25", "%2525", "cfid=", "&cfid=1&cftoken=2", "../", "(" + "a" * 24 + ")/"]
)
def test_a_very_long_url_is_processed_in_linear_time(hostile):
    longest = (f"http://a.example/x.aspx/?{hostile}" + hostile * MAX_CHARACTERS)[:MAX_CHARACTERS]

    assert surt(longest).startswith("example,a)/x.aspx")
    assert surt(longest.replace("?", "")).startswith("example,a)/")


@pytest.mark.parametrize("letter", ["a", "€", "😀"])
def test_long_keys_are_shortened_and_stay_unique(letter):
    most = MAX_KEY_BYTES // len(letter.encode())
    keys = [letter * length for length in range(most - 1, most + 3)]
    shortened_keys = [shortened(key) for key in keys]

    assert shortened_keys[:2] == keys[:2]
    assert len({*shortened_keys}) == len(keys)
    assert all(len(key.encode()) <= MAX_KEY_BYTES for key in shortened_keys)
