"""What Zotero's RDF says of items apart from them, and mostly behind: collections, notes, files."""

from collections.abc import Iterable

from archiver.formats.html_items import plain_text
from archiver.formats.rows import both
from archiver.formats.xml_events import Element
from archiver.model.folder_path import MOST_DEPTH, folder_path

DOI = "DOI "
"""Begins a text that is one."""
_MOST = 32 << 20
"""Characters kept of all of it; what is more is passed over."""
_MOST_TITLE = 1_000
"""Characters of a title that many may be part of."""
_INSIDE = 2
"""So many are around a property: the root, and what it is a property of."""
_CONTAINERS = frozenset({"journal", "series", "website", "book", "periodical"})


class Apart:
    """What is told of by reference: each by the name that items refer to it by."""

    def __init__(self, told: Iterable[Element]) -> None:
        self._room = _MOST
        self._notes: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._dois: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._collections: dict[str, str] = {}
        self._lies_in: dict[str, list[str]] = {}
        open_elements: list[Element] = []
        for element in told:
            if element.is_end:
                open_elements.pop()
                self._take(element, open_elements)
            else:
                open_elements.append(element)

    def _take(self, element: Element, around: list[Element]) -> None:
        """Take an element that ends, if it is a property of something that stands at the top."""
        if len(around) < _INSIDE or self._room < 0:
            return
        kind, about = around[-1].name, around[-1].attributes.get("about", "")
        text = element.text.strip()
        if kind == "collection" and element.name == "title":
            self._collections[about] = text
        elif kind == "collection" and element.name == "haspart":
            part = element.attributes.get("resource", "")
            self._lies_in.setdefault(part, []).append(about)
        elif kind == "memo" and element.name == "value":
            self._notes[about] = _plain(text)
        elif kind in _CONTAINERS and element.name == "title":
            self._titles[about] = text
        elif kind in _CONTAINERS and element.name == "identifier" and text.startswith(DOI):
            self._dois[about] = text.removeprefix(DOI)
        elif "attachment" in (each.name for each in around[1:2]) and element.name == "value":
            self._files[around[1].attributes.get("about", "")] = text
        self._room -= len(text) + len(about)

    def note(self, names: Iterable[str]) -> str:
        """The notes of these names, one below the other; each is handed on once.

        A note is of one item: else one long note and many that refer to it made a file far more.
        """
        return both(*(self._notes.pop(each, "") for each in names))

    def title(self, name: str) -> str:
        """What something that an item is part of is called; its name, if nothing says."""
        return self._titles.get(name, "")[:_MOST_TITLE] or name

    def doi(self, name: str) -> str:
        """The DOI of an article that is said of what it is part of; handed on once."""
        return self._dois.pop(name, "")

    def file(self, name: str) -> str:
        """Where an attachment is from, told once; its name, if nothing says."""
        return self._files.pop(name, "") or name

    def folders(self, name: str) -> tuple[str, ...]:
        """The paths of the collections that an item lies in, in the order of the file."""
        paths = (self._path(each) for each in self._lies_in.get(name, ()))
        return tuple(dict.fromkeys(filter(None, paths)))

    def _path(self, name: str) -> str:
        """Where a collection lies; found once, for many items lie in it."""
        if name not in self._paths:
            self._paths[name] = self._path_upwards(name)
        return self._paths[name]

    def _path_upwards(self, name: str) -> str:
        names: list[str] = []
        while name in self._collections and len(names) < MOST_DEPTH:
            names.append(self._collections[name])
            name = next(iter(self._lies_in.get(name, ())), "")
        return folder_path(reversed(names))


def _plain(html: str) -> str:
    """The text of a note, a line for each block of it."""
    return "\n".join(filter(None, map(str.strip, plain_text(html).split("\n"))))
