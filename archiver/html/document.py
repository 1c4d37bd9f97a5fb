"""The document of an article: the block of its conversion record.

Its body is the article as it is shown: its head in a ``header``, where it has one, and its text.
"""

import html as entities
import re

from archiver.errors import InvalidRecord
from archiver.model.page import Article

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
