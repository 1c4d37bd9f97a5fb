"""Multi-page articles."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from selectolax.lexbor import LexborHTMLParser

from archiver.http.urls import join
from archiver.model.page import Article
from archiver.pages.article_text import whole
from archiver.pages.metadata import declares_article
from archiver.pages.references import clean_reference

_NEXT = "link[rel~='next' i][href], a[rel~='next' i][href]"
_MAX_LINKS = 8
_COUNTERS = frozenset({"page", "pg", "paged", "pageno", "pagenum", "page_number", "part"})
MAX_PARTS = 20
"""Maximum number of pages of one article. Higher numbers indicate items of a list."""
_MAX_DIGITS = 2
_NUMBERED = re.compile(
    rf"(?P<stem>.*?)(?:/(?:page|part|p)?[/_-]?|[_-](?:page|part|p)?[_-]?)"
    rf"(?P<number>\d{{1,{_MAX_DIGITS}}})(?P<suffix>/|\.\w{{1,5}})?\Z",
    re.IGNORECASE,
)
_FIRST_OF_A_LIST = re.compile(r"/1/?\Z")
"""``/posts/1`` is the first of several posts rather than the first page of one."""


def join_parts(first: Article, following: Sequence[Article]) -> Article:
    """Join the parts of an article in order, with the metadata of the first."""
    parts = [first, *(each for each in following if each.html)]
    return replace(
        first,
        html="\n".join([first.html, *map(whole, parts[1:])]),
        text="\n".join(each.text for each in parts),
        words=" ".join(each.words for each in parts),
    )


def find_next_part(tree: LexborHTMLParser, url: str) -> str | None:
    """Return the absolute URL of an article's next page, or None.

    Blogs link to the next post with the same markup (HTML §4.6.6.11), and lists to older items. The
    URL shows whether the link leads to the next page of the article.
    """
    links = tree.css(_NEXT)[:_MAX_LINKS]
    if not links or not declares_article(tree):
        return None
    for each in links:
        target = join(url, clean_reference(each.attributes.get("href") or ""))
        if target and is_next_page(url, target):
            return target
    return None


def is_next_page(url: str, following: str) -> bool:
    """Return whether ``following`` differs from ``url`` only in a page number that is one higher.

    The URL of the first page has the number 1 or no number.
    """
    current, target = urlsplit(url), urlsplit(following)
    if current[:2] != target[:2]:
        return False
    before = {(1, _bare(current)), *_numbered_readings(current)}
    pages = [
        (number, stem) for number, stem in _numbered_readings(target) if number <= MAX_PARTS + 1
    ]
    return any((number - 1, stem) in before for number, stem in pages)


def _numbered_readings(url: SplitResult) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield (page number, rest of the URL) for each way to read a URL as a numbered page."""
    fields = parse_qsl(url.query, keep_blank_values=True)
    for n, (name, value) in enumerate(fields):
        is_number = value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS
        if name.lower() in _COUNTERS and is_number:
            remaining = fields[:n] + fields[n + 1 :]
            yield int(value), (_path_pattern(url.path), urlencode(remaining))
    match = _NUMBERED.fullmatch(url.path)
    if match and not _FIRST_OF_A_LIST.search(url.path):
        suffix = (match["suffix"] or "").strip("/")
        yield int(match["number"]), (_path_pattern(match["stem"] + suffix), _query(url))


def _bare(url: SplitResult) -> tuple[str, str]:
    return _path_pattern(url.path), _query(url)


def _path_pattern(path: str) -> str:
    return path.rstrip("/")


def _query(url: SplitResult) -> str:
    return urlencode(parse_qsl(url.query, keep_blank_values=True))
