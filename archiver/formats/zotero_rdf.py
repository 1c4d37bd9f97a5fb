"""Zotero's RDF: items at the top, their address in ``dc:identifier`` or as their name."""

from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.reference_fields import NO_ADDRESS
from archiver.formats.rows import Row
from archiver.formats.xml_events import elements, is_xml
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.message import marked

_SKIPPED = frozenset({"attachment", "memo", "collection", "rdf", "journal", "series"})


def _read(file: GivenFile) -> Iterator[Bookmark]:
    """Items are what stands at the top; their address is in ``dc:identifier`` or their name."""
    depth = 0
    said: dict[str, Any] = {}
    tags: list[str] = []
    for element in elements(file):
        if not element.is_end:
            if depth == 1:
                said, tags = {"about": element.attributes.get("about", "")}, []
            depth += 1
            continue
        depth -= 1
        text = element.text.strip()
        if depth == 1 and element.name not in _SKIPPED:
            yield _reference(said, tags)
        elif text and depth > 1:
            if element.name in ("subject", "automatictag") or (
                element.name == "value" and "uri" not in said and not text.startswith("http")
            ):
                tags.append(text)
            elif element.name == "value":
                said.setdefault("uri", text)
            else:
                said.setdefault(element.name, text)


def _reference(said: dict[str, Any], tags: list[str]) -> Bookmark:
    row = Row(said)
    about = row.text("about")
    url = row.text("uri") or (about if about.startswith("http") else "")
    title = row.text("title")
    if not url:
        return unreadable(title or about, NO_ADDRESS)
    return row.bookmark(
        url,
        title=title,
        added_at=row.moment("datesubmitted"),
        tags=tuple(dict.fromkeys(tags)),
    )


ZOTERO_RDF = Importer(
    "Zotero RDF",
    lambda file: is_xml(file, "rdf"),
    _read,
    ("rdf",),
    marked("Zotero: Export library, Zotero RDF"),
)
