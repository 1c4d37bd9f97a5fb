"""The program's own JSON format. ``own_json.schema.json`` describes it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from archiver.formats.importer import Importer
from archiver.formats.json_output import to_document
from archiver.formats.json_values import JsonText
from archiver.formats.list_writer import Heading, ListForm
from archiver.formats.rows import items_of, members_of, text_of
from archiver.formats.source_file import FileLists, SourceFile
from archiver.http.text_decoders import well_formed
from archiver.http.timestamps import read_iso
from archiver.model.annotation import (
    MAX_HIGHLIGHTS,
    MAX_QUOTE,
    MAX_REMARK,
    Annotation,
    Colour,
    Highlight,
    merged_source_records,
    read_source_record,
    write_source_record,
)
from archiver.model.entry import Entry, ExportedEntry, Snapshot
from archiver.model.entry_list import EntryList, ListColour
from archiver.model.job import State
from archiver.model.message import marked
from archiver.model.seed import Bookmark, unreadable

# User-supplied fields are at the top level of a document, named as in the API. The member
# ``archive`` describes the captures, which JSON does not contain. An import stores two values of
# this description in the source record: the title of the page, and whether the entry was saved as a
# link. An export writes both again until this archive has a capture of the entry.

VERSION = 1
MARK = "archiver"
"""Name of the JSON member with the version of the document format."""
ARCHIVE = "archive"
_DERIVED = (MARK, "url", "hash_url")
_CAPTURE_FIELDS = ("status", "media_type", "payload_digest", "payload_length", "ip")
_SNAPSHOT_FIELDS = tuple(
    each.name
    for each in fields(Snapshot)
    if each.name not in ("hash_url", "url", "capture", "article")
)
_DOCUMENT_KEY = re.compile(r"[0-9a-f]{16}")
_MAX_CONTEXT = 1000
_LINK_START = '{"archive":{"state":"link"'
_END = 1 << 62
"""Number greater than every position in a text."""


def entry_document(exported: ExportedEntry) -> dict[str, Any]:
    """Return the complete document of an entry."""
    entry = exported.entry
    document = to_document(entry.annotation)
    archive, document["source_record"] = _archive(exported)
    named = {MARK: VERSION, "hash_url": entry.hash_url, "url": entry.url}
    return {**named, **document, ARCHIVE: archive}


def json_line(document: Any) -> str:
    r"""Serialise a document as one line of JSON.

    ``<`` is written as ``\u003c``, so that neither a browser nor an encoding detector takes a title
    for markup.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def read_annotation(document: Mapping[str, Any]) -> Annotation:
    """Parse a document; unknown fields go into the source record.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: the document is invalid.
    """
    values = {name: read(document[name]) for name, read in _READERS.items() if name in document}
    remaining = {
        name: value
        for name, value in document.items()
        if name not in _DERIVED and name not in _READERS
    }
    archive = _archive_record(remaining.pop(ARCHIVE, None))
    record = merged_source_records(values.pop("source_record", ""), archive)
    record = merged_source_records(record, write_source_record(remaining))
    return Annotation(**values, source_record=record)


def read_highlights(value: Any) -> tuple[Highlight, ...]:
    """Parse highlights.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: a highlight is invalid.
    """
    return tuple(map(_highlight, value[:MAX_HIGHLIGHTS]))


def was_saved_as_link(source_record: str) -> bool:
    """Return whether the archive that exported an entry had it as a link without a capture."""
    return _LINK_START in source_record and any(
        _is_archive_line(each) and each[ARCHIVE].get("state") == State.LINK
        for line, each in _lines(source_record)
        if line.startswith(_LINK_START)
    )


def describes_captures(source_record: str) -> bool:
    """Return whether a source record describes captures from another archive."""
    return any(_is_archive_line(each) for _, each in _lines(source_record))


def without_captures(source_record: str) -> str:
    """Return a source record without the description of captures."""
    dropped = {line for line, each in _lines(source_record) if _is_archive_line(each)}
    return "\n".join(line for line in source_record.split("\n") if line not in dropped)


def captured_title_record(title: str) -> str:
    """Return a source record that stores the page title from the original archive."""
    return write_source_record({ARCHIVE: {"state": State.SAVED.value, "title": title}})


def link_record(title: str) -> str:
    """Return a source record that marks an entry saved as a link; ``title`` may be empty."""
    return write_source_record(
        {ARCHIVE: {"state": State.LINK.value, "title": title, "failure": None, "snapshots": []}}
    )


def captured_title(source_record: str) -> str:
    """Return the page title from the original archive in a source record; empty if unknown."""
    archives = (each[ARCHIVE] for _, each in _lines(source_record) if _is_archive_line(each))
    return next((each["title"] for each in archives if isinstance(each.get("title"), str)), "")


def _archive(exported: ExportedEntry) -> tuple[dict[str, Any], str]:
    """Return the description of an entry's captures, and the rest of its source record.

    An entry without captures keeps the description from the archive it was imported from.
    """
    entry, record = exported.entry, exported.entry.annotation.source_record
    if entry.state in (State.QUEUED, State.LINK) and not exported.snapshots:
        for line, document in _lines(record):
            if _is_archive_line(document):
                lines = "\n".join(each for each in record.split("\n") if each != line)
                return document[ARCHIVE], lines
    return _archive_of(entry, exported.snapshots), without_captures(record)


def _is_archive_line(document: Mapping[str, Any]) -> bool:
    return document.keys() == {ARCHIVE} and isinstance(document[ARCHIVE], dict)


def _lines(record: str) -> list[tuple[str, dict[str, Any]]]:
    if f'{{"{ARCHIVE}":' not in record:
        return []
    lines = record.split("\n")
    return [(line, document) for line in lines for document in read_source_record(line)]


def _archive_of(entry: Entry, snapshots: tuple[Snapshot, ...]) -> dict[str, Any]:
    if entry.state is State.QUEUED and not snapshots:
        return {"state": entry.state.value}
    return {
        "state": entry.state.value,
        "title": snapshots[0].title if snapshots else "",
        "failure": to_document(entry.failure),
        "snapshots": [_snapshot(each) for each in snapshots],
    }


def _snapshot(snapshot: Snapshot) -> dict[str, Any]:
    fields = {name: to_document(getattr(snapshot, name)) for name in _SNAPSHOT_FIELDS}
    return fields | {name: getattr(snapshot.capture, name) for name in _CAPTURE_FIELDS}


def _archive_record(archive: Any) -> str:
    """Return a source record with the values of ``archive`` that an import stores."""
    fields_of_archive = members_of(archive)
    title = text_of(fields_of_archive.get("title"))
    if fields_of_archive.get("state") == State.LINK:
        return link_record(title)
    return captured_title_record(title) if title else ""


def _highlight(value: Mapping[str, Any]) -> Highlight:
    key = _text(value["id"])
    if not _DOCUMENT_KEY.fullmatch(key):
        raise ValueError(f"invalid highlight id: {key[:80]}")
    moment = value.get("made_at")
    return Highlight(
        id=key,
        quote=_text(value["quote"])[:MAX_QUOTE],
        prefix=_text(value.get("prefix", ""))[:_MAX_CONTEXT],
        suffix=_text(value.get("suffix", ""))[:_MAX_CONTEXT],
        start=_number(value.get("start", -1)),
        colour=Colour(value.get("colour", Colour.YELLOW)),
        note=_text(value.get("note", ""))[:MAX_REMARK],
        made_at=read_iso(moment) if moment else None,
        timestamp=_text(value.get("timestamp", ""))[:14],
    )


def _number(value: Any) -> int:
    if type(value) is not int or abs(value) >= _END:
        raise TypeError("a number is expected here")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected here")
    return well_formed(value)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("a list is expected here")
    return tuple(map(_text, value))


def _places(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(n) is int for n in value):
        raise TypeError("a list of places is expected here")
    return tuple(value)


_BY_TYPE: Mapping[Any, Any] = {
    str: _text,
    bool: bool,
    int: _number,
    tuple[str, ...]: _texts,
    tuple[int, ...]: _places,
    datetime | None: lambda value: read_iso(value) if value else None,
    tuple[Highlight, ...]: read_highlights,
}
_READERS = {each.name: _BY_TYPE[each.type] for each in fields(Annotation)}


# Files of these documents: JSON and JSON lines.

_ENTRIES = "entries"
_LISTS = "lists"
_OWN_JSON_KEY = "hash_url"
_NO_ENTRY = marked("This is not an entry from an archiver export.")


class _Json:
    def __init__(self, heading: Heading) -> None:
        self._lists = json_line(_list_objects(heading.lists))
        self._between = "\n"

    def opening(self) -> str:
        return f'{{"{MARK}":{VERSION},"{_LISTS}":{self._lists},"{_ENTRIES}":['

    def item(self, exported: ExportedEntry, _: str) -> str:
        between, self._between = self._between, ",\n"
        return between + json_line(entry_document(exported))

    def closing(self) -> str:
        return "\n]}\n"


class _JsonLines:
    def __init__(self, heading: Heading) -> None:
        self._lists = _list_objects(heading.lists)

    def opening(self) -> str:
        return f"{json_line({MARK: VERSION, _LISTS: self._lists})}\n" if self._lists else ""

    def item(self, exported: ExportedEntry, _: str) -> str:
        return f"{json_line(entry_document(exported))}\n"

    def closing(self) -> str:
        return ""


def _is_ours(file: SourceFile) -> bool:
    return MARK in file.json_paths and bool({_ENTRIES, _LISTS, _OWN_JSON_KEY} & file.json_paths)


def _read(file: SourceFile) -> Iterator[Bookmark]:
    text, lists = JsonText(file.chunks()), FileLists(file)
    if {_ENTRIES, _LISTS} & file.json_paths:
        yield from _document(text, lists)
    for value in text.values():  # JSON lines
        if isinstance(value, dict) and _LISTS in value and _OWN_JSON_KEY not in value:
            _take(lists, value[_LISTS])
        else:
            yield _bookmark(value)


def _document(text: JsonText, lists: FileLists) -> Iterator[Bookmark]:
    """Read the first JSON object of a file: yield its entries, and add its lists to ``lists``.

    The object is a complete export, or the first line of a JSON lines file.
    """
    document: dict[str, Any] = {}
    for name, value in text.members(_LISTS, _ENTRIES):
        if name in (_ENTRIES, ""):
            yield _bookmark(value)
        elif name == _LISTS:
            _take(lists, [value])
        else:
            document[name] = value
    if _OWN_JSON_KEY in document:
        yield _bookmark(document)


def _take(lists: FileLists, values: Any) -> None:
    """Add the lists in a JSON value; skip invalid values."""
    for value in map(members_of, items_of(values)):
        path, query, colour = (text_of(value.get(name)) for name in ("path", "query", "colour"))
        lists.add(path, query, ListColour.of(colour))


def _list_objects(lists: Iterable[EntryList]) -> list[dict[str, str]]:
    return [{"path": each.path, "query": each.query, "colour": each.colour} for each in lists]


def _bookmark(value: Any) -> Bookmark:
    if isinstance(value, Bookmark):
        return value
    try:
        return Bookmark(read_annotation(value))
    except (KeyError, TypeError, ValueError, AttributeError):
        url = value.get("url_given") if isinstance(value, dict) else value
        return unreadable(text_of(url), _NO_ENTRY)


JSON = ListForm(_Json, has_snapshots=True)
JSON_LINES = ListForm(_JsonLines, has_snapshots=True)
OWN_JSON = Importer(
    "archiver JSON",
    _is_ours,
    _read,
    ("json", "jsonl"),
    marked("archiver: Export, JSON or JSON lines"),
    tags_include_folders=True,
    has_other_addresses=True,
)


def schema_text() -> str:
    """Return the JSON Schema of an export; ``$defs/entry`` describes a line of JSON lines."""
    return Path(__file__).with_name("own_json.schema.json").read_text(encoding="utf-8")
