"""Articles outside of the visible markup.

If scripts show the article, the page often contains the article in templates, ``noscript``,
``textarea`` or JSON data. Such an article is used if it is much longer than the visible article.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape

from selectolax.lexbor import LexborHTMLParser

from archiver.pages.article_text import without_tags
from archiver.pages.metadata import objects_in, parse_json_ld

SHORTEST = 250
"""Minimum characters of an article outside of the visible markup."""

MAX_SOURCES = 5
_MAX_ELEMENTS = 1000
_TEMPLATE_TYPE = re.compile(
    r"(?:text|application)/(?:html|template)|tmpl|template|handlebars|mustache|\bejs\b|jsrender"
    r"|\b(?:x-)?underscore",
    re.IGNORECASE,
)
_DATA = ("application/ld+json", "application/json")
_PLACEHOLDER = re.compile(r"\{\{[^{}]{0,200}\}\}\}?|<%.{0,200}?%>")
_MARKUP = re.compile(r"<(?:p|div|br|h[1-6]|li)\b", re.IGNORECASE)
_BODIES = ("articleBody", "reviewBody")


STATED, POSSIBLE = 1.9, 3.0
"""Minimum length of a hidden article, relative to the visible article.

``STATED`` is for article bodies that JSON-LD declares, ``POSSIBLE`` for all other markup.
"""


@dataclass(frozen=True, slots=True)
class HiddenSource:
    """Markup outside of the visible markup that may contain the article.

    Attributes:
        markup: the markup as HTML.
        size: number of characters of text in the markup.
        factor: minimum length of the article in the markup, relative to the visible article.
    """

    markup: str
    size: int
    factor: float


def hidden_sources(page: LexborHTMLParser) -> list[HiddenSource]:
    """Return markup in templates and data that may contain the article, the longest first."""
    bodies: list[str] = []
    html_texts: list[str] = []
    for element in page.css("script[type], noscript, noframes, textarea, xmp")[:_MAX_ELEMENTS]:
        text = (element.inner_html if element.tag == "noscript" else element.text()) or ""
        if len(text) < SHORTEST:
            continue
        kind = element.attributes.get("type") or ""
        if element.tag != "script":
            html_texts.append(_as_markup(text))
        elif kind.lower() in _DATA:
            bodies += _bodies(text)
            html_texts += _markup_in(text)
        elif _TEMPLATE_TYPE.search(kind[:SHORTEST]):
            html_texts.append(_PLACEHOLDER.sub("", text))
    for root in page.template_fragments()[:_MAX_ELEMENTS]:
        html_texts.append("".join(each.html or "" for each in root.iter(include_text=True)))
    sources = [HiddenSource(each, len(without_tags(each)), STATED) for each in bodies]
    sources += [HiddenSource(each, len(without_tags(each)), POSSIBLE) for each in html_texts]
    return sorted(sources, key=lambda each: -each.size)[:MAX_SOURCES]


def _bodies(text: str) -> Iterator[str]:
    """Yield the article bodies that JSON-LD declares, as markup."""
    if any(each in text for each in _BODIES):
        for each in objects_in(parse_json_ld(text)):
            bodies = (each.get(name) for name in _BODIES)
            yield from (_as_markup(body) for body in bodies if isinstance(body, str))


def _markup_in(text: str) -> Iterator[str]:
    """Yield one text: all strings with markup in the JSON data of a web framework."""
    if "<p" in text or "\\u003cp" in text:
        yield "\n".join(each for each in _strings(parse_json_ld(text)) if "<p" in each)


def _strings(parsed: object) -> Iterator[str]:
    """Yield all strings of parsed JSON, in order."""
    waiting = [parsed]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)


def _as_markup(text: str) -> str:
    """Return text as markup: decode escaped markup, and turn lines of text into paragraphs."""
    if not _MARKUP.search(text):
        decoded = unescape(text)
        if not _MARKUP.search(decoded):
            return "".join(f"<p>{escape(each)}</p>" for each in decoded.split("\n") if each.strip())
        text = decoded
    return text
