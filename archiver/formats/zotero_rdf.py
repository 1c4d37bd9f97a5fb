"""Zotero's RDF: items at the top, and what they refer to; read twice, as that stands behind."""

from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.reference_fields import NO_ADDRESS, address_of
from archiver.formats.rows import Row
from archiver.formats.xml_events import Element, elements, is_xml
from archiver.formats.zotero_apart import DOI, Apart
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.message import marked

_APART = frozenset({"attachment", "memo", "collection", "rdf", "journal", "series"})
_PERSON = frozenset({"surname", "givenname", "name"})
_ITEM, _PROPERTY = 1, 2


def _read(file: GivenFile) -> Iterator[Bookmark]:
    file.seekable()
    apart = Apart(elements(file))
    around: list[Element] = []
    item: _Item | None = None
    for element in elements(file):
        if not element.is_end:
            around.append(element)
            if len(around) == _PROPERTY and element.name not in _APART:
                item = _Item(element.attributes.get("about", ""), apart)
            continue
        around.pop()
        if len(around) == _ITEM:
            if item:
                yield item.bookmark()
            item = None
        elif item:
            item.take(element, [each.name for each in around[_PROPERTY:]])


class _Item:
    """What is said of one item."""

    def __init__(self, about: str, apart: Apart) -> None:
        self._about = about
        self._apart = apart
        self._url = ""
        self._doi = self._attached = ""
        self._tags: list[str] = []
        self._notes: list[str] = []
        self._name: list[str] = []
        self._values: dict[str, list[str]] = {}

    def take(self, element: Element, around: list[str]) -> None:
        """Take an element that ends, with the names of those around it, of the item's own on."""
        text, refers_to = element.text.strip(), element.attributes.get("resource", "")
        if element.name == "person":
            self._say(next(iter(around), element.name), ", ".join(self._name))
            self._name = []
        elif refers_to:
            self._refer(element.name, refers_to)
        elif not text:
            return
        elif element.name in _PERSON and "person" in around:
            self._name.append(text)
        elif "subject" in (element.name, *around[:1]):
            self._tags.append(text)
        elif around[:1] == ["identifier"] and not self._url:
            self._url = text
        else:
            if element.name == "identifier" and text.startswith(DOI):
                self._doi = self._doi or text.removeprefix(DOI)
            # What an item is part of has a title, too.
            self._say(" ".join((*around[:1], element.name)), text)

    def _refer(self, name: str, refers_to: str) -> None:
        if name == "isreferencedby":
            self._notes.append(refers_to)
        elif name == "ispartof":
            self._say(name, self._apart.title(refers_to))
            self._doi = self._doi or self._apart.doi(refers_to)
        else:
            file = self._apart.file(refers_to)
            self._say(name, file)
            if not self._attached and file.startswith(("http:", "https:")):
                self._attached = file

    def _say(self, name: str, text: str) -> None:
        self._values.setdefault(name, []).append(text)

    def bookmark(self) -> Bookmark:
        """The item as a link: of its address, else its name, else an identifier of it.

        Zotero says the DOI of an article of the journal that it is part of.
        """
        fields: dict[str, Any] = {
            name: each[0] if len(each) == 1 else each for name, each in self._values.items()
        }
        row = Row(fields)
        about = self._about if self._about.startswith("http") else ""
        remarks = "\n".join(self._values.get("description", ()))
        url = self._url or about or address_of(self._doi, remarks) or self._attached
        title = row.text("title")
        if not url:
            return unreadable(title or self._about, NO_ADDRESS)
        return row.bookmark(
            url,
            title=title,
            note=self._apart.note(self._notes),
            added_at=row.moment("datesubmitted"),
            tags=tuple(dict.fromkeys(self._tags)),
            folders=self._apart.folders(self._about),
        )


ZOTERO_RDF = Importer(
    "Zotero RDF",
    lambda file: is_xml(file, "rdf"),
    _read,
    ("rdf",),
    marked("Zotero: Export library, Zotero RDF"),
)
