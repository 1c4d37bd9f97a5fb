"""Article extraction.

Media, formulas and code are normalised in the whole page; then the article's element is chosen and
cleaned, and the result is sanitised.
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from html import escape

from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser

from archiver.model.page import Article, PageMetadata
from archiver.pages.article.boilerplate import Rules, remove_boilerplate
from archiver.pages.article.code_blocks import normalise_code
from archiver.pages.article.completion import (
    complete_article,
    make_ids_unique,
    set_direction,
    text_direction,
)
from archiver.pages.article.edges import trim
from archiver.pages.article.embeds import normalise_embeds, normalise_widgets
from archiver.pages.article.formulas import normalise_mathematics
from archiver.pages.article.heading_links import (
    drop_above_title,
    drop_edit_links,
    drop_permalinks,
)
from archiver.pages.article.headline import (
    Lead,
    find_lead,
    insert_lead,
    move_infoboxes,
    take_head,
    title_heading,
)
from archiver.pages.article.hidden_sources import (
    POSSIBLE,
    SHORTEST,
    HiddenSource,
    hidden_sources,
)
from archiver.pages.article.media import normalise_drawings, normalise_media
from archiver.pages.article.notes import append_missing_notes
from archiver.pages.article.panels import normalise_panels
from archiver.pages.article.preparation import drop_hidden, to_tree
from archiver.pages.article.scoring import Scores, make_root
from archiver.pages.article.surroundings import drop_surroundings
from archiver.pages.article.tree import Marked, by_attribute, text_in
from archiver.pages.article.valid_html import make_valid
from archiver.pages.article_text import (
    MAX_CHARACTERS,
    beginning,
    text_article,
    to_text,
    whole,
    without_tags,
)
from archiver.pages.metadata import read_dateline, read_metadata
from archiver.pages.parsing import base_of, parse
from archiver.pages.sanitizer import sanitise

ENOUGH_CHARACTERS = 500
RETRY_FACTOR = 1.9
"""Factor by which the article of a less strict attempt must be longer than the best one before.

Such attempts are made until an article has ``ENOUGH_CHARACTERS``.
"""

NEARLY_EMPTY, MAIN_FACTOR = 100, 2
"""Characters below which an article is nearly empty, and the factor by which the element marked as
main must be longer to replace it.
"""

_ATTEMPTS = (
    (True, Rules()),
    (False, Rules()),
    (False, Rules(weighted=False)),
    (False, Rules(conditional=False, weighted=False)),
)
"""Attempts in order: whether to remove unlikely names, and the rules for cleaning."""


_Found = tuple[Element, Element | None]
"""Body of a page, and its article."""


def choose_article(body: Element) -> Element | None:
    """Return the cleaned article of a page in a new element; None if there is none."""
    best: tuple[int, Element] | None = None
    for strict, rules in _ATTEMPTS:
        page = deepcopy(body.getparent()).find("body")
        scores = Scores(page, strict=strict, weighted=rules.weighted)
        root = make_root(scores.choose())
        worth = remove_boilerplate(root, rules, scores.measures).worth
        if best is None or worth > RETRY_FACTOR * best[0]:
            best = worth, root
            if worth >= ENOUGH_CHARACTERS:
                break
    if best is None or best[0] < NEARLY_EMPTY:
        best = _main_part(body, best)
    return best[1] if best and (best[0] or len(best[1])) else None


def _main_part(body: Element, best: tuple[int, Element] | None) -> tuple[int, Element] | None:
    """Return (length, article) of the element marked as main, or ``best``.

    The element marked as main is used if it is much longer than ``best``. This is called if the
    best article is nearly empty, as on pages that are lists.
    """
    page = deepcopy(body.getparent()).find("body")
    parts = [each for each in page.iter() if each.tag == "main" or each.get("role") == "main"]
    if not parts:
        return best
    root = make_root((parts[0],))
    worth = remove_boilerplate(root, Rules(conditional=False), {}).worth
    return (worth, root) if best is None or worth > MAIN_FACTOR * best[0] else best


LINES_ABOVE, _MAX_ABOVE = 5, 2000
"""Maximum lines and characters at the start of an article that may be title, author and date."""

_NEARLY_ALL, _LEAST_OF_PAGE = 0.9, 0.2
"""Minimum share of a rendered page's text in its article.

The first is for articles of less than ``ENOUGH_CHARACTERS``, the second for longer ones.
"""

_DOCUMENT = re.compile(r"\A<div>(.*)</div>\s*\Z", re.DOTALL)


def extract_article(html: str, url: str, *, part: int = 1) -> Article:
    """Extract the article of a page, with absolute URLs; if it can't be parsed, return its text.

    Args:
        html: the markup of the page.
        url: the URL of the page.
        part: the number of this page in a multi-page article, from 1.
    """
    html = html[:MAX_CHARACTERS]
    page = parse(html)
    if page is None:
        return text_article(without_tags(html), title="")
    return extract_parsed(page, html, url, read_metadata(page, url), part=part)


def extract_parsed(
    page: LexborHTMLParser,
    html: str,
    url: str,
    metadata: PageMetadata,
    *,
    part: int = 1,
) -> Article:
    """Extract the article of a parsed page; the tree is modified.

    ``metadata`` is the page's metadata.
    """
    article = _read(page, html, url, metadata, part=part)
    text = article.text
    if not metadata.excerpt:
        metadata = replace(metadata, excerpt=beginning(text))
    if not metadata.published:
        lines = text[:_MAX_ABOVE].split("\n")[:LINES_ABOVE]
        published = article.metadata.published or read_dateline(lines)
        metadata = replace(metadata, published=published)
    return replace(article, metadata=metadata)


def extract_rendered(html: str, url: str) -> Article:
    """Extract the article of a rendered page, or return the whole page if the article is too short.

    A web application may have no article, and its content may look like navigation.
    """
    article = extract_article(html, url)
    page = parse(html[:MAX_CHARACTERS])
    if page is None:
        return article
    reading = _read(page, html, url, PageMetadata(), whole=True)
    enough = _LEAST_OF_PAGE if len(article.text) >= ENOUGH_CHARACTERS else _NEARLY_ALL
    if len(article.text) >= enough * len(reading.text):
        return article
    return replace(reading, metadata=article.metadata)


def image_article(url: str, title: str) -> Article:
    """Return the article of an image: the image."""
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
) -> Article:
    base = base_of(page, url)
    hidden = [] if whole else hidden_sources(page)
    body = to_tree(page)
    if body is None:
        body = etree.SubElement(etree.Element("html"), "body")
    marked = by_attribute(body)
    direction = text_direction(page, body, marked["dir"])
    lowered = _lowered(source)
    _normalise(body, marked, lowered)
    if not whole:
        drop_surroundings(body, lowered, title_heading(body, metadata.title), url)
    article = body if whole else choose_article(body)
    if not whole:
        body, article = _with_hidden(page, hidden, lowered, (body, article))
    if article is None:
        return Article()
    lead = Lead() if whole else find_lead(body, metadata.title, metadata.byline)
    head = insert_lead(article, lead)
    if not whole:
        append_missing_notes(article, body)
    drop_above_title(article, metadata.title)
    normalise_embeds(article)
    move_infoboxes(article)
    complete_article(article, url, base)
    if part > 1:
        make_ids_unique(article, part)
    take_head(article, head, metadata.title)
    published = "" if whole else trim(article, metadata.byline)
    for each in (head, article):
        make_valid(each)
    set_direction(article, direction)
    return replace(_sanitised(head, article), metadata=PageMetadata(published=published))


def _with_hidden(
    page: LexborHTMLParser,
    hidden: Sequence[HiddenSource],
    source: bytes,
    visible: _Found,
) -> _Found:
    """Return (body, article) of the visible page, or of hidden markup with a longer article.

    If all articles are nearly empty, hidden elements of the page are tried as well.
    """
    best, length = visible, _length(visible)
    for each in hidden:
        if each.size > each.factor * max(length, SHORTEST / each.factor):
            parsed = parse(each.markup)
            body = to_tree(parsed) if parsed is not None else None
            best = _longer(best, body, _lowered(each.markup), each.factor)
            length = _length(best)
    if length < NEARLY_EMPTY:
        best = _longer(best, to_tree(page), source, POSSIBLE, hides=False)
    return best


def _longer(
    best: _Found,
    body: Element | None,
    source: bytes,
    factor: float,
    *,
    hides: bool = True,
) -> _Found:
    if body is None:
        return best
    _normalise(body, by_attribute(body), source, hides=hides)
    candidate = body, choose_article(body)
    return candidate if _length(candidate) > max(factor * _length(best), SHORTEST) else best


def _length(reading: _Found) -> int:
    return len(" ".join(text_in(reading[1]).split())) if reading[1] is not None else 0


def _lowered(html: str) -> bytes:
    return html.encode("utf-8", "ignore").lower()


def _sanitised(head: Element, article: Element) -> Article:
    """Return the sanitised article, given the trees of its head and of its text."""
    written: str = etree.tostring(article, encoding="unicode", method="html")
    bare = _DOCUMENT.match(written)
    above = "".join(etree.tostring(each, encoding="unicode", method="html") for each in head)
    extracted = Article(
        html=sanitise(bare[1] if bare else written).strip(),
        head=sanitise(above).strip() if above else "",
    )
    return replace(extracted, text=to_text(whole(extracted)))


def _normalise(body: Element, marked: Marked, source: bytes, *, hides: bool = True) -> None:
    """Normalise the elements that an article may contain, in the whole page.

    Args:
        body: the body of the page.
        marked: its elements by the names of their attributes.
        source: the markup of the whole page in lower case.
        hides: whether to remove hidden elements.
    """
    normalise_widgets(body, marked)
    normalise_panels(body, marked)
    normalise_mathematics(body, source)
    if hides:
        drop_hidden(body, marked)
    drop_permalinks(body)
    drop_edit_links(body)
    normalise_drawings(body)
    normalise_code(body)
    normalise_media(body, marked)
