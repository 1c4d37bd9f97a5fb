"""Reads the article out of a page: what a person came for, as clean HTML.

The parts are in ``reader``: media, formulas and code are settled in the whole page, the element of
the article is chosen and cleared, and what is left is sanitised.
"""

import re
from dataclasses import replace
from html import escape

from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser

from archiver.html.base import base_of
from archiver.html.dates import read_dateline
from archiver.html.document import whole
from archiver.html.metadata import read_metadata
from archiver.html.parsing import parse
from archiver.html.plain import MOST_CHARACTERS, text_article
from archiver.html.reader.above import drop_above_title
from archiver.html.reader.appendix import bring_appendix
from archiver.html.reader.byline import drop_byline
from archiver.html.reader.choose import choose_article
from archiver.html.reader.code import settle_code
from archiver.html.reader.colophon import drop_colophon
from archiver.html.reader.drawings import settle_drawings
from archiver.html.reader.embeds import settle_embeds
from archiver.html.reader.finish import finish, set_apart
from archiver.html.reader.head import take_head
from archiver.html.reader.lead import Lead, find_lead, put_lead
from archiver.html.reader.mathematics import settle_mathematics
from archiver.html.reader.media import settle_media
from archiver.html.reader.notes import bring_notes
from archiver.html.reader.permalinks import settle_permalinks
from archiver.html.reader.prepare import drop_hidden, to_tree
from archiver.html.reader.tabs import settle_tabs
from archiver.html.reader.tagline import drop_tagline
from archiver.html.reader.tools import settle_editing
from archiver.html.reader.valid import make_valid
from archiver.html.reader.widgets import settle_widgets
from archiver.html.reader.writing import Sheets, lines_of, mark_writing, page_direction, set_lines
from archiver.html.sanitise import sanitise
from archiver.html.text import beginning, to_text, without_tags
from archiver.model.page import Article, PageMetadata

LINES_ABOVE, _MOST_ABOVE = 5, 2000
"""So many lines of an article may be its title, its subtitle, who wrote it and when."""

_NEARLY_ALL = 0.9
_DOCUMENT = re.compile(r"\A<div>(.*)</div>\s*\Z", re.DOTALL)


def extract_article(html: str, url: str, *, part: int = 1, sheets: Sheets = ()) -> Article:
    """The article of a page, with absolute URLs. Never fails: a page without one gives its text.

    Args:
        html: of the page.
        url: where it was.
        part: which part of an article in several it is, from 1 on.
        sheets: style sheets of the page that say in which direction lines go.
    """
    html = html[:MOST_CHARACTERS]
    page = parse(html)
    if page is None:
        return text_article(without_tags(html), title="")
    return article_of(page, html, url, read_metadata(page, url), part=part, sheets=sheets)


def article_of(
    page: LexborHTMLParser,
    html: str,
    url: str,
    metadata: PageMetadata,
    *,
    part: int = 1,
    sheets: Sheets = (),
) -> Article:
    """The same of a page that is parsed already; its tree is no more what it was.

    ``metadata`` is what it says of itself.
    """
    article = _read(page, html, url, metadata, part=part, sheets=sheets)
    text = article.text
    if not metadata.excerpt:
        metadata = replace(metadata, excerpt=beginning(text))
    if not metadata.published:
        lines = text[:_MOST_ABOVE].split("\n")[:LINES_ABOVE]
        metadata = replace(metadata, published=read_dateline(lines))
    return replace(article, metadata=metadata)


def extract_stood(html: str, url: str, sheets: Sheets = ()) -> Article:
    """The article of a page as it stood in a browser: all there is to read where it is no article.

    An application has no article; what a reader takes for navigation may be what it shows.
    """
    article = extract_article(html, url, sheets=sheets)
    page = parse(html[:MOST_CHARACTERS])
    if page is None:
        return article
    found = _read(page, html, url, PageMetadata(), whole=True, sheets=sheets)
    if len(article.text) >= _NEARLY_ALL * len(found.text):
        return article
    return replace(found, metadata=article.metadata)


def image_article(url: str, title: str) -> Article:
    """The article of an image: the image."""
    body = sanitise(f'<figure><img src="{escape(url)}" alt="{escape(title)}"></figure>')
    return Article(PageMetadata(title=title), body, "")


def _read(
    page: LexborHTMLParser,
    source: str,
    url: str,
    metadata: PageMetadata,
    *,
    whole: bool = False,
    part: int = 1,
    sheets: Sheets = (),
) -> Article:
    base = base_of(page, url)
    shown = _shown_title(page)
    said = mark_writing(page, source, base, sheets), page_direction(page)
    body = to_tree(page)
    if body is None:
        return Article()
    lines = lines_of(body, *said)
    _settle(body, source)
    lead = Lead() if whole else find_lead(body, metadata.title, metadata.byline)
    article = body if whole else choose_article(body, metadata.title)
    if article is None:
        return Article()
    head = put_lead(article, lead)
    if not whole:
        drop_colophon(article)
        bring_appendix(article, body)
        bring_notes(article, body)
    drop_above_title(article, metadata.title)
    drop_tagline(article, metadata.title, shown, metadata.site)
    drop_byline(article, metadata.byline, metadata.published)
    settle_embeds(article)
    finish(article, url, base)
    if part > 1:
        set_apart(article, part)
    take_head(article, head, metadata.title)
    for each in (head, article):
        make_valid(each)
    set_lines(article, *lines)
    return _written(head, article)


def _written(head: Element, article: Element) -> Article:
    """What was read, as HTML that is safe to show."""
    written: str = etree.tostring(article, encoding="unicode", method="html")
    bare = _DOCUMENT.match(written)
    above = "".join(etree.tostring(each, encoding="unicode", method="html") for each in head)
    found = Article(
        html=sanitise(bare[1] if bare else written).strip(),
        head=sanitise(above).strip() if above else "",
    )
    return replace(found, text=to_text(whole(found)))


def _shown_title(page: LexborHTMLParser) -> str:
    """The whole title of a document, in one line."""
    element = page.css_first("title")
    return " ".join((element.text() or "").split()) if element else ""


def _settle(body: Element, source: str) -> None:
    """Make plain what an article may be made of, in the whole page."""
    settle_widgets(body)
    settle_tabs(body)
    settle_mathematics(body, source)
    drop_hidden(body)
    settle_permalinks(body)
    settle_editing(body)
    settle_drawings(body)
    settle_code(body)
    settle_media(body)
