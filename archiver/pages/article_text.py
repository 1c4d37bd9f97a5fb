"""Plain text and outline of articles, and their conversion records.

The body of a record is the article as displayed: its head (title and lead image), if any, in a
``header``, followed by its text.
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

_SEPARATORS = {tag: "\n" for name in BLOCKS for tag in (name, f"/{name}")}

LEAST_LINE = 40
"""Characters below which a line counts as a heading, a date or a name."""
MAX_BEGINNING = 240
_MAX_CUT = 40
"""Characters before the limit that are searched for a space; without a space, a word is cut."""


def to_text(html: str) -> str:
    """Return the text of sanitised HTML (markup as nh3 writes it), with blocks separated."""
    return tidy_lines(loose_text(html))


def loose_text(html: str) -> str:
    """Return the text of sanitised HTML with its original white space."""
    return entities.unescape(_without_markup(html))


def loose_start(html: str, most: int) -> str:
    """Return the start of ``loose_text``, up to the last space in ``most`` characters of HTML."""
    text, *_ = _without_markup(html[:most]).partition("<")  # a tag that is cut off
    return entities.unescape("".join(text.rsplit(None, 1)[:1]))


def beginning(text: str) -> str:
    """Return the start of a text, for display in a list of entries.

    Lines shorter than ``LEAST_LINE`` are left out, and the text is cut between words. Text without
    spaces near the end, as in Chinese and Japanese, is cut at the limit.
    """
    text_so_far = ""
    for line in text.splitlines():
        if len(line) >= LEAST_LINE:
            text_so_far = f"{text_so_far} {line}".lstrip()
        if len(text_so_far) > MAX_BEGINNING:
            cut = text_so_far.rfind(" ", MAX_BEGINNING - _MAX_CUT, MAX_BEGINNING)
            return text_so_far[: cut if cut >= 0 else MAX_BEGINNING] + "…"
    return text_so_far


def without_tags(html: str) -> str:
    """Remove the tags of HTML that cannot be parsed."""
    return _ANY_TAG.sub(" ", html)


def tidy_lines(text: str) -> str:
    """Return text with one space between words and one newline between lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _without_markup(html: str) -> str:
    """Replace the tags of blocks by line breaks, and remove other tags and comments."""
    pieces = _TAG.split(html)
    pieces[1::2] = [_SEPARATORS.get(tag, "") for tag in pieces[1::2]]
    return "".join(pieces)


def to_reading(html: str) -> str:
    """Return the text of sanitised HTML for reading.

    Code is unchanged, and each formula appears once, as TeX if its source is known.
    """
    html = _FORMULA.sub(_as_tex, html)
    pieces = _CODE.split(html)
    parts = [
        loose_text(each).strip("\n")
        if n % 2
        else to_text(" ".join(each.split()))  # line breaks of the source have no meaning
        for n, each in enumerate(pieces)
    ]
    return "\n".join(each for each in parts if each)


def _as_tex(formula: re.Match[str]) -> str:
    """Return the TeX source of a formula between delimiters, if known."""
    source = _TEX.search(formula[0])
    if source is None:
        return formula[0]
    sign = "$$" if 'display="block"' in formula[1] else "$"
    return f"{sign}{source[1].strip()}{sign}"


MAX_CHARACTERS = 8 << 20
MAX_PLAIN_CHARACTERS = 2 << 20
"""Maximum characters of a plain text in its article and search document.

The archived file itself is stored completely.
"""


def text_article(text: str, title: str) -> Article:
    """Return the article of a plain text."""
    text = text[:MAX_PLAIN_CHARACTERS].replace("\0", "")
    body = f"<pre>{escape(text)}</pre>" if text.strip() else ""
    return Article(PageMetadata(title=title), body, tidy_lines(text))


def file_name(url: str) -> str:
    """Return the last path segment of a serialised URL, or its host, in place of a title."""
    path = url.partition("?")[0].partition("://")[2]
    return unquote(path.partition("/")[2].rpartition("/")[2]) or host(url)


_RIGHT_TO_LEFT = '<div dir="rtl">'
"""Start tag of a right-to-left article; the head is inserted after it."""

_BODY = re.compile(r"<title>(?P<title>.*?)</title>.*?<body>\n(?P<html>.*)\n</body>", re.DOTALL)


def whole(article: Article) -> str:
    """Return an article with its head, as it is stored and displayed."""
    if not article.head:
        return article.html
    pos = len(_RIGHT_TO_LEFT) if article.html.startswith(_RIGHT_TO_LEFT) else 0
    head = f"<header>\n{article.head}\n</header>\n"
    return f"{article.html[:pos]}{head}{article.html[pos:]}"


def write_article_document(article: Article) -> bytes:
    """Return an article as an HTML document that any browser can display."""
    metadata = article.metadata
    language = f' lang="{entities.escape(metadata.language)}"' if metadata.language else ""
    return (
        f"<!DOCTYPE html>\n<html{language}>\n<head>\n"
        f'<meta charset="utf-8">\n<title>{entities.escape(metadata.title)}</title>\n</head>\n'
        f"<body>\n{whole(article)}\n</body>\n</html>\n"
    ).encode("utf-8", "replace")


def read_article_document(block: bytes) -> tuple[str, str]:
    """Return (title, article HTML) of a document by ``write_article_document``.

    The HTML includes the head.

    Raises:
        InvalidRecord: the block is not such a document.
    """
    match = _BODY.search(block.decode("utf-8", "replace"))
    if not match:
        raise InvalidRecord("This conversion record does not contain an article.")
    return entities.unescape(match["title"]), match["html"]
