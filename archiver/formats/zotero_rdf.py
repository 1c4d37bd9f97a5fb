"""Zotero RDF."""

from collections.abc import Iterable, Iterator
from typing import Any

from archiver.formats.bibliographies import NO_ADDRESS, reference_url
from archiver.formats.html_items import plain_text
from archiver.formats.importer import Importer
from archiver.formats.rows import Row, join_texts
from archiver.formats.source_file import SourceFile
from archiver.formats.xml_events import Element, elements, is_xml_file
from archiver.model.entry_list import MAX_DEPTH, folder_path
from archiver.model.message import marked
from archiver.model.seed import Bookmark, unreadable

# Resources that items refer to: collections, notes and files. Most of them come after the items.

DOI = "DOI "
"""Prefix of a text that is a DOI."""
_MAX_CHARACTERS = 32 << 20
"""Maximum number of characters of all stored resources; further resources are skipped."""
_MAX_TITLE = 1_000
"""Maximum number of characters of the title of a container, such as a journal."""
_PROPERTY_DEPTH = 2
"""Number of ancestors of a property: the root and a resource."""
_CONTAINERS = frozenset({"journal", "series", "website", "book", "periodical"})


class SharedResources:
    """Notes, files, collections and journals, by the identifier that items refer to."""

    def __init__(self, parsed: Iterable[Element]) -> None:
        self._room = _MAX_CHARACTERS
        self._notes: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._dois: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._collections: dict[str, str] = {}
        self._collections_of: dict[str, list[str]] = {}
        open_elements: list[Element] = []
        for element in parsed:
            if element.is_end:
                open_elements.pop()
                self._add(element, open_elements)
            else:
                open_elements.append(element)

    def _add(self, element: Element, ancestors: list[Element]) -> None:
        """Process the end of an element, if it is a property of a top-level resource."""
        if len(ancestors) < _PROPERTY_DEPTH or self._room < 0:
            return
        kind, about = ancestors[-1].name, ancestors[-1].attributes.get("about", "")
        text = element.text.strip()
        if kind == "collection" and element.name == "title":
            self._collections[about] = text
        elif kind == "collection" and element.name == "haspart":
            part = element.attributes.get("resource", "")
            self._collections_of.setdefault(part, []).append(about)
        elif kind == "memo" and element.name == "value":
            self._notes[about] = _plain(text)
        elif kind in _CONTAINERS and element.name == "title":
            self._titles[about] = text
        elif kind in _CONTAINERS and element.name == "identifier" and text.startswith(DOI):
            self._dois[about] = text.removeprefix(DOI)
        elif "attachment" in (each.name for each in ancestors[1:2]) and element.name == "value":
            self._files[ancestors[1].attributes.get("about", "")] = text
        self._room -= len(text) + len(about)

    def note(self, names: Iterable[str]) -> str:
        """Return the notes with these identifiers, joined, and remove them.

        Each note is used only for the first item that refers to it. Otherwise many references to
        one long note would multiply the size of the import.
        """
        return join_texts(*(self._notes.pop(each, "") for each in names))

    def title(self, name: str) -> str:
        """Return the title of a container, such as a journal; its identifier if untitled."""
        return self._titles.get(name, "")[:_MAX_TITLE] or name

    def doi(self, name: str) -> str:
        """Return and remove the DOI that Zotero writes to the container of an article."""
        return self._dois.pop(name, "")

    def file(self, name: str) -> str:
        """Return and remove the address of an attachment; its identifier if it has none."""
        return self._files.pop(name, "") or name

    def folders(self, name: str) -> tuple[str, ...]:
        """Return the paths of the collections of an item, in file order."""
        paths = (self._path(each) for each in self._collections_of.get(name, ()))
        return tuple(dict.fromkeys(filter(None, paths)))

    def _path(self, name: str) -> str:
        """Return the path of a collection; cached, because many items share it."""
        if name not in self._paths:
            self._paths[name] = self._path_upwards(name)
        return self._paths[name]

    def _path_upwards(self, name: str) -> str:
        names: list[str] = []
        while name in self._collections and len(names) < MAX_DEPTH:
            names.append(self._collections[name])
            name = next(iter(self._collections_of.get(name, ())), "")
        return folder_path(reversed(names))


def _plain(html: str) -> str:
    """Return the text of a note, with a line for each block."""
    return "\n".join(filter(None, map(str.strip, plain_text(html).split("\n"))))


# Items at the top level of a file. The file is read twice, because items refer to resources that
# come after them.

_NOT_ITEMS = frozenset({"attachment", "memo", "collection", "rdf", "journal", "series"})
_PERSON = frozenset({"surname", "givenname", "name"})
_ITEM, _PROPERTY = 1, 2


def _read(file: SourceFile) -> Iterator[Bookmark]:
    file.seekable()
    shared = SharedResources(elements(file))
    ancestors: list[Element] = []
    item: _Item | None = None
    for element in elements(file):
        if not element.is_end:
            ancestors.append(element)
            if len(ancestors) == _PROPERTY and element.name not in _NOT_ITEMS:
                item = _Item(element.attributes.get("about", ""), shared)
            continue
        ancestors.pop()
        if len(ancestors) == _ITEM:
            if item:
                yield item.bookmark()
            item = None
        elif item:
            item.add(element, [each.name for each in ancestors[_PROPERTY:]])


class _Item:
    """Properties of one item."""

    def __init__(self, about: str, shared: SharedResources) -> None:
        self._about = about
        self._shared = shared
        self._url = ""
        self._doi = self._attached = ""
        self._tags: list[str] = []
        self._notes: list[str] = []
        self._name: list[str] = []
        self._values: dict[str, list[str]] = {}

    def add(self, element: Element, ancestors: list[str]) -> None:
        """Process the end of an element, given the names of its ancestors inside the item."""
        text, refers_to = element.text.strip(), element.attributes.get("resource", "")
        if element.name == "person":
            self._add_value(next(iter(ancestors), element.name), ", ".join(self._name))
            self._name = []
        elif refers_to:
            self._refer(element.name, refers_to)
        elif not text:
            return
        elif element.name in _PERSON and "person" in ancestors:
            self._name.append(text)
        elif "subject" in (element.name, *ancestors[:1]):
            self._tags.append(text)
        elif ancestors[:1] == ["identifier"] and not self._url:
            self._url = text
        else:
            if element.name == "identifier" and text.startswith(DOI):
                self._doi = self._doi or text.removeprefix(DOI)
            # An item and its container both have a title, so the parent's name is part of the key.
            self._add_value(" ".join((*ancestors[:1], element.name)), text)

    def _refer(self, name: str, refers_to: str) -> None:
        if name == "isreferencedby":
            self._notes.append(refers_to)
        elif name == "ispartof":
            self._add_value(name, self._shared.title(refers_to))
            self._doi = self._doi or self._shared.doi(refers_to)
        else:
            file = self._shared.file(refers_to)
            self._add_value(name, file)
            if not self._attached and file.startswith(("http:", "https:")):
                self._attached = file

    def _add_value(self, name: str, text: str) -> None:
        self._values.setdefault(name, []).append(text)

    def bookmark(self) -> Bookmark:
        """Return the item as a bookmark.

        The URL is the first of these that exists: the identifier of the item, its ``rdf:about``,
        the URL for its DOI, the URL for a PubMed or arXiv identifier in its description, and the
        URL of an attachment.
        """
        fields: dict[str, Any] = {
            name: each[0] if len(each) == 1 else each for name, each in self._values.items()
        }
        row = Row(fields)
        about = self._about if self._about.startswith("http") else ""
        remarks = "\n".join(self._values.get("description", ()))
        url = self._url or about or reference_url(self._doi, remarks) or self._attached
        title = row.text("title")
        if not url:
            return unreadable(title or self._about, NO_ADDRESS)
        return row.bookmark(
            url,
            title=title,
            note=self._shared.note(self._notes),
            added_at=row.moment("datesubmitted"),
            tags=tuple(dict.fromkeys(self._tags)),
            folders=self._shared.folders(self._about),
        )


ZOTERO_RDF = Importer(
    "Zotero RDF",
    lambda file: is_xml_file(file, "rdf"),
    _read,
    ("rdf",),
    marked("Zotero: Export library, Zotero RDF"),
)
