"""Our own JSON and JSON lines: all that is said of entries and held of them, written and read."""

from collections.abc import Iterable, Iterator
from typing import Any

from archiver.formats.file_lists import FileLists
from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.list_writer import Heading, ListForm
from archiver.formats.own_document import (
    MARK,
    VERSION,
    entry_document,
    read_annotation,
    written,
)
from archiver.formats.rows import text_of
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.entry_list import EntryList
from archiver.model.exported import Exported
from archiver.model.message import marked

_ENTRIES = "entries"
_LISTS = "lists"
_KEY = "hash_url"
_NO_ENTRY = marked("This is no entry as archiver writes one.")


class _Json:
    def __init__(self, heading: Heading) -> None:
        self._lists = written(_listed(heading.lists))
        self._between = "\n"

    def opening(self) -> str:
        return f'{{"{MARK}":{VERSION},"{_LISTS}":{self._lists},"{_ENTRIES}":['

    def item(self, exported: Exported, _: str) -> str:
        between, self._between = self._between, ",\n"
        return between + written(entry_document(exported))

    def closing(self) -> str:
        return "\n]}\n"


class _JsonLines:
    def __init__(self, heading: Heading) -> None:
        self._lists = _listed(heading.lists)

    def opening(self) -> str:
        return f"{written({MARK: VERSION, _LISTS: self._lists})}\n" if self._lists else ""

    def item(self, exported: Exported, _: str) -> str:
        return f"{written(entry_document(exported))}\n"

    def closing(self) -> str:
        return ""


def _is_ours(file: GivenFile) -> bool:
    return MARK in file.json_paths and bool({_ENTRIES, _LISTS, _KEY} & file.json_paths)


def _read(file: GivenFile) -> Iterator[Bookmark]:
    text, lists = JsonText(file.chunks()), FileLists(file)
    if {_ENTRIES, _LISTS} & file.json_paths:
        yield from _document(text, lists)
    for value in text.values():  # JSON lines
        if isinstance(value, dict) and _LISTS in value and _KEY not in value:
            _take(lists, value[_LISTS])
        else:
            yield _bookmark(value)


def _document(text: JsonText, lists: FileLists) -> Iterator[Bookmark]:
    """What the first object holds: all entries, lists, or, where lines were joined, one entry."""
    document: dict[str, Any] = {}
    for name, value in text.members(_LISTS, _ENTRIES):
        if name in (_ENTRIES, ""):
            yield _bookmark(value)
        elif name == _LISTS:
            _take(lists, [value])
        else:
            document[name] = value
    if _KEY in document:
        yield _bookmark(document)


def _take(lists: FileLists, values: Any) -> None:
    """Take lists of values; what is none is passed over."""
    for value in values if isinstance(values, list) else ():
        fields = value if isinstance(value, dict) else {}
        lists.take(text_of(fields.get("path")), text_of(fields.get("query")))


def _listed(lists: Iterable[EntryList]) -> list[dict[str, str]]:
    return [{"path": each.path, "query": each.query} for each in lists]


def _bookmark(value: Any) -> Bookmark:
    if isinstance(value, Bookmark):
        return value
    try:
        return Bookmark(read_annotation(value))
    except (KeyError, TypeError, ValueError, AttributeError):
        given = value.get("url_given") if isinstance(value, dict) else value
        return unreadable(text_of(given), _NO_ENTRY)


JSON = ListForm(_Json, has_snapshots=True)
JSON_LINES = ListForm(_JsonLines, has_snapshots=True)
OWN_JSON = Importer(
    "archiver JSON",
    _is_ours,
    _read,
    ("json", "jsonl"),
    marked("archiver: Export, JSON or JSON lines"),
    says_all_tags=True,
)
