"""Plain text and outline of articles, and their conversion records.

Its body is the article as it is shown: its head in a ``header``, where it has one, and its text.
"""

import html as entities
import re
from html import escape
from urllib.parse import unquote

from archiver.errors import InvalidRecord
from archiver.http.urls import host
from archiver.model.page import Article, PageMetadata

_TAG = re.compile(
    r"<(/?[a-zA-Z][a-zA-Z0-9]*+)(?>(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*)>|<!--.*?(?:-->|\Z)",
    re.DOTALL,
)
_CODE = re.compile(r"<pre\b[^<>]*>(.*?)</pre>", re.DOTALL)
_FORMULA = re.compile(r"<math\b([^<>]*)>.*?</math>", re.DOTALL)
_TEX = re.compile(r'<annotation encoding="application/x-tex">(.*?)</annotation>', re.DOTALL)
_ANY_TAG = re.compile(r"<[^<>]*+>")
BLOCKS = frozenset(
    "address article aside blockquote br caption dd details div dl dt figcaption figure footer h1 "
    "h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead "
    "tr ul".split()
)

LEAST_LINE = 40
"""A line of fewer characters is a heading, a date or a name."""
MOST_BEGINNING = 240
_MOST_CUT = 40
"""A word of more characters than these is cut itself: so is writing without spaces."""


def to_text(html: str) -> str:
    """The text of HTML that was sanitised: markup as nh3 writes it, blocks apart."""
    return tidy_lines(loose_text(html))


def loose_text(html: str) -> str:
    """The same with the white space that it has: for whoever cares for none."""
    return entities.unescape(_TAG.sub(_between, html))


def beginning(text: str) -> str:
    """How a text begins, for a list: its first lines that say something, cut between words.

    What has no space near its end, as Chinese and Japanese have none, is cut where that is.
    """
    begun = ""
    for line in text.splitlines():
        if len(line) >= LEAST_LINE:
            begun = f"{begun} {line}".lstrip()
        if len(begun) > MOST_BEGINNING:
            cut = begun.rfind(" ", MOST_BEGINNING - _MOST_CUT, MOST_BEGINNING)
            return begun[: cut if cut >= 0 else MOST_BEGINNING] + "…"
    return begun


def without_tags(html: str) -> str:
    """What is left of HTML that can't be parsed once its tags are gone."""
    return _ANY_TAG.sub(" ", html)


def tidy_lines(text: str) -> str:
    """Text with one space between words and one newline between lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _between(tag: re.Match[str]) -> str:
    name = (tag[1] or "").lstrip("/").lower()
    return "\n" if name in BLOCKS else ""


def to_reading(html: str) -> str:
    """The text of sanitised HTML as a person reads it: code as it stands, formulas as TeX, once."""
    html = _FORMULA.sub(_as_tex, html)
    pieces = _CODE.split(html)
    shown = [
        entities.unescape(_TAG.sub(_between, each)).strip("\n")
        if n % 2
        else to_text(" ".join(each.split()))  # where a line of the source ends says nothing
        for n, each in enumerate(pieces)
    ]
    return "\n".join(each for each in shown if each)


def _as_tex(formula: re.Match[str]) -> str:
    """A formula that says how it was written is that, between signs that say so."""
    source = _TEX.search(formula[0])
    if source is None:
        return formula[0]
    sign = "$$" if 'display="block"' in formula[1] else "$"
    return f"{sign}{source[1].strip()}{sign}"


MOST_CHARACTERS = 8 << 20
MOST_PLAIN_CHARACTERS = 2 << 20
"""Of a plain text that are read and searched; it is kept whole."""


def text_article(text: str, title: str) -> Article:
    """The article of a plain text."""
    text = text[:MOST_PLAIN_CHARACTERS].replace("\0", "")
    body = f"<pre>{escape(text)}</pre>" if text.strip() else ""
    return Article(PageMetadata(title=title), body, tidy_lines(text))


def file_name(url: str) -> str:
    """The last part of a serialised URL's path, or its host: the name of what has no title."""
    path = url.partition("?")[0].partition("://")[2]
    return unquote(path.partition("/")[2].rpartition("/")[2]) or host(url)


_SET = re.compile(r'<div(?: class="vertical-(?:rl|lr)"| dir="rtl")+>')
"""What is around an article whose lines go another way; its head stands in it."""

_BODY = re.compile(r"<title>(?P<title>.*?)</title>.*?<body>\n(?P<html>.*)\n</body>", re.DOTALL)


def whole(article: Article) -> str:
    """An article with its head above it, as it is kept and shown."""
    if not article.head:
        return article.html
    around = _SET.match(article.html)
    at = around.end() if around else 0
    head = f"<header>\n{article.head}\n</header>\n"
    return f"{article.html[:at]}{head}{article.html[at:]}"


def write_article_document(article: Article) -> bytes:
    """A small HTML document around an article; any browser reads it."""
    metadata = article.metadata
    language = f' lang="{entities.escape(metadata.language)}"' if metadata.language else ""
    return (
        f"<!DOCTYPE html>\n<html{language}>\n<head>\n"
        f'<meta charset="utf-8">\n<title>{entities.escape(metadata.title)}</title>\n</head>\n'
        f"<body>\n{whole(article)}\n</body>\n</html>\n"
    ).encode("utf-8", "replace")


def read_article_document(block: bytes) -> tuple[str, str]:
    """(title, article HTML) of such a document; the head stands in it.

    Raises:
        InvalidRecord: it is not one.
    """
    found = _BODY.search(block.decode("utf-8", "replace"))
    if not found:
        raise InvalidRecord("This conversion record does not hold an article.")
    return entities.unescape(found["title"]), found["html"]
