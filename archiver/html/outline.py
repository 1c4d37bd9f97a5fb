"""The headings of a sanitised article: each gets an id to be led to by."""

import re
from html import unescape

from archiver.model.outline import Heading

LEAST, MOST = 3, 200
"""Headings of which there is a table of contents, and how many of them stand in it."""
_HEADING = re.compile(r"<h([1-6])((?:[^<>\"]|\"[^\"]*\")*)>(.{0,2000}?)</h\1>", re.DOTALL)
_ID = re.compile(r'\sid="([^"]*)"')
_MATH = re.compile(r"<(math|svg)\b.*?</\1>", re.DOTALL)
_PERMALINK = re.compile(r'<a\b[^<>]* class="permalink"[^<>]*>[^<>]*</a>')
_ANY_TAG = re.compile(r"<(?:[^<>\"]|\"[^\"]*\")*>")
_MOST_CHARACTERS = 200


def outline(html: str) -> tuple[str, tuple[Heading, ...]]:
    """The article, every heading of which has an id, and the headings that have words."""
    found: list[tuple[int, str, str]] = []

    def name(heading: re.Match[str]) -> str:
        level, attributes, inner = heading.groups()
        known = _ID.search(attributes)
        key = unescape(known[1]) if known else f"h-{len(found) + 1}"
        words = " ".join(
            unescape(_ANY_TAG.sub("", _MATH.sub("…", _PERMALINK.sub("", inner)))).split()
        )
        if not words or len(found) >= MOST:
            return heading[0]
        found.append((int(level), key, words[:_MOST_CHARACTERS]))
        added = "" if known else f' id="{key}"'
        return f"<h{level}{attributes}{added}>{inner}</h{level}>"

    named = _HEADING.sub(name, html)
    top = min((level for level, _, _ in found), default=0)
    return named, tuple(Heading(key, words, level - top) for level, key, words in found)
