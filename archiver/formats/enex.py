"""Evernote's ENEX: each note that was clipped has its address; the links in others are theirs."""

import re
from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.markup import Tag, attributes_of, tokenize
from archiver.formats.rows import Row
from archiver.formats.xml_events import elements, is_xml
from archiver.model.bookmark import Bookmark

_SAID = frozenset(
    "title created updated author source source-url latitude longitude reminder-time".split()
)
_HTTP = re.compile(r"https?://", re.IGNORECASE)
_MOST_LINKS = 10_000


def _read(file: GivenFile) -> Iterator[Bookmark]:
    said: dict[str, str] = {}
    tags: list[str] = []
    content = ""
    for element in elements(file):
        if element.name == "note" and not element.is_end:
            said, tags, content = {}, [], ""
        elif element.name == "note":
            yield from _note(said, tuple(dict.fromkeys(tags)), content)
        elif element.is_end and element.name == "tag":
            tags.append(element.text.strip())
        elif element.is_end and element.name == "content":
            content = element.text
        elif element.is_end and element.name in _SAID:
            said.setdefault(element.name, element.text.strip())


def _note(said: dict[str, str], tags: tuple[str, ...], content: str) -> Iterator[Bookmark]:
    """A note: the page it was clipped from, or else each link in it, with the note's name."""
    row = Row(said)
    url = row.text("sourceurl")
    if url:
        title, added_at = row.text("title"), row.moment("created")
        yield row.bookmark(url, title=title, added_at=added_at, tags=tags, page=content)
        return
    for link, text in _links(content):
        row = Row({name: each for name, each in said.items() if name != "title"})
        row.put("note", said.get("title", ""))
        yield row.bookmark(link, title=text, added_at=row.moment("created"), tags=tags)


def _links(content: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    link, text = "", ""
    for token in tokenize([content]):
        if isinstance(token, str):
            text += token if link else ""
        elif token.name == "a":
            link, text = attributes_of(token).get("href", ""), ""
        elif token == Tag("/a", token.attributes) and link:
            if _HTTP.match(link) and link not in seen and len(seen) < _MOST_LINKS:
                seen.add(link)
                yield link, text
            link = ""


ENEX = Importer(
    "Evernote (ENEX)",
    lambda file: is_xml(file, "en-export"),
    _read,
    ("enex",),
    "Evernote: Export notes, ENEX; what was clipped, and the links in notes",
)
