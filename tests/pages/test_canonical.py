"""Canonical URLs that are plausible."""

import pytest

from archiver.pages.metadata import canonical_in_header, canonical_of
from archiver.pages.parsing import parse

PAGE = "https://a.example/articles/1?from=feed"
OWN = "https://a.example/articles/1"


@pytest.mark.parametrize(
    ("html", "named"),
    [
        ("<link rel=canonical href=/articles/1>", OWN),
        ("<link href='  1 ' REL='nofollow Canonical'>", OWN),
        ("<link rel=canonical href=/articles/1#part>", OWN),
        ("<base href=https://b.example/x/><link rel=canonical href=1>", "https://b.example/x/1"),
        ("<link rel=canonical href=/articles/1><link rel=canonical href=1>", OWN),
        ("<link rel=canonical href=/articles/1><link rel=canonical href=/articles/2>", ""),
        (f"<link rel=canonical href={PAGE}>", ""),
        ("<link rel=canonical href=''>", ""),
        ("<link rel=canonical>", ""),
        ("<link rel=alternate href=/articles/1>", ""),
        ("<body><p>x<link rel=canonical href=/articles/1>", ""),
        ("<link rel=canonical href=javascript:alert(1)>", ""),
        ("<link rel=canonical href='https://'>", ""),
        (f"<link rel=canonical href=/{'x' * 9000}>", ""),
        ("<link rel=canonical href=/>", ""),
        ("<link rel=canonical href=https://a.example>", ""),
        ("", ""),
    ],
)
def test_canonical_urls_declared_by_a_page(html, named):
    page = parse(html)
    assert page

    assert canonical_of(page, PAGE) == named


def test_a_front_page_may_have_another_canonical_url():
    page = parse("<link rel=canonical href=https://a.example/>")
    assert page

    assert canonical_of(page, "https://www.a.example/") == "https://a.example/"


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ('</articles/1>; rel="canonical"', OWN),
        ("</x>; rel=next, </articles/1>; rel=canonical", OWN),
        ("</articles/1>; rel=canonical, </articles/2>; rel=canonical", ""),
        ("</articles/1>; rel=alternate", ""),
        ("</caf\xe9>; rel=canonical", "https://a.example/caf%E9"),
        ("rel=canonical", ""),
        ("", ""),
    ],
)
def test_canonical_urls_declared_by_a_response(header, named):
    assert canonical_in_header(header, PAGE) == named
