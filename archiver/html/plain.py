"""Articles of what is no page: nothing here needs a parser."""

from html import escape
from urllib.parse import unquote

from archiver.html.text import tidy_lines
from archiver.model.page import Article, PageMetadata
from archiver.urls.parse import host

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
