"""Exports of Linkwarden."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import unescape
from itertools import islice
from typing import Any

from archiver.formats.archive_members import Members
from archiver.formats.importer import Importer, bookmarks_of, has_paths
from archiver.formats.json_values import of_object
from archiver.formats.rows import FieldMap, Row, items_of, members_of, objects_of, text_of
from archiver.formats.saved_pages import HTML, MAX_FILE, MAX_PAGE
from archiver.formats.source_file import SourceFile
from archiver.model.entry_list import MAX_DEPTH, folder_path
from archiver.model.message import marked
from archiver.model.seed import ArchivedPage, Bookmark

# Linkwarden's JSON: collections with their links, and a separate list of pinned links.

_COLLECTION_FIELDS = ("description", "color", "icon")


def _bookmarks_of_export(document: dict[str, Any]) -> Iterator[Bookmark]:
    collections = objects_of(document.get("collections"))
    by_id = {text_of(each.get("id")): each for each in collections}
    pinned = {text_of(each.get("id")) for each in objects_of(document.get("pinnedLinks"))} - {""}
    for collection in collections:
        around = _ancestors(collection, by_id)
        path = folder_path(unescape(text_of(each.get("name"))) for each in around)
        metadata = [described for each in around if (described := _collection_metadata(each))]

        def bookmark(row: Row, path: str = path, metadata: list[Any] = metadata) -> Bookmark:
            row.put("collections", metadata)
            is_pinned = text_of(row.peek("id")) in pinned
            return _FIELDS.bookmark(row, folders=(path,) if path else (), is_starred=is_pinned)

        yield from bookmarks_of(items_of(collection.get("links")), bookmark)


_FIELDS = FieldMap(
    title="name",
    note="description",
    added_at=("importdate", "createdat"),
    tags="tags",
    unused="collectionid",
    parse_title=unescape,
)


def _ancestors(
    collection: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return a collection and its ancestors, beginning with the outermost ancestor."""
    line: list[Mapping[str, Any]] = []
    at: Mapping[str, Any] | None = collection
    while at is not None and len(line) < MAX_DEPTH:
        line.insert(0, at)
        parent = text_of(at.get("parentId"))
        at = by_id.get(parent) if parent else None
    return line


def _collection_metadata(collection: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, description, colour and icon of a collection; empty if it has only a name."""
    metadata = {name: collection.get(name) for name in _COLLECTION_FIELDS if collection.get(name)}
    return {"name": collection.get("name"), **metadata} if metadata else {}


LINKWARDEN = Importer(
    "Linkwarden JSON",
    has_paths("collections[].links", "collections pinnedLinks"),
    lambda file: of_object(file, _bookmarks_of_export),
    ("json",),
    marked("Linkwarden: Settings, Account, Export Data"),
)


# Zip file with Linkwarden's JSON and its folder ``archives``, which contains the archived pages.

_ARCHIVED = re.compile(r"(?:.*/)?archives/[0-9]+/([0-9]+)(\.html|\.pdf|_readability\.json)")

_MAX_LISTS = 100


def _read_zip(file: SourceFile) -> Iterator[Bookmark]:
    packed = file.zip
    if packed is None:
        return
    archived: dict[str, dict[str, str]] = {}
    for name in packed.names:
        if match := _ARCHIVED.fullmatch(name):
            archived.setdefault(match[1], {})[match[2]] = name
    for name in _lists(packed):
        for bookmark in LINKWARDEN.read(SourceFile(packed.open(name), name)):
            yield replace(bookmark, page=_page(packed, archived.get(_link_id(bookmark), {})))


def _lists(packed: Members) -> Iterator[str]:
    members = (each for each in packed.names if not _ARCHIVED.fullmatch(each))
    for name in islice((each for each in members if each.endswith(".json")), _MAX_LISTS):
        if LINKWARDEN.recognises(SourceFile(packed.open(name), name)):
            yield name


def _link_id(bookmark: Bookmark) -> str:
    """Return Linkwarden's id of a link, which is in its source record."""
    record = members_of(json.loads(bookmark.annotation.source_record or "{}"))
    return str(record.get("id", ""))


def _page(packed: Members, files: Mapping[str, str]) -> ArchivedPage | None:
    """Return the best archived copy: the whole page, else its article, else its PDF."""
    if name := files.get(".html"):
        return _whole(packed.read(name, MAX_FILE), HTML)
    if name := files.get("_readability.json"):
        article = _article(packed.read(name, MAX_PAGE))
        return _whole(article.encode(), "text/html; charset=utf-8")
    if name := files.get(".pdf"):
        return _whole(packed.read(name, MAX_FILE), "application/pdf")
    return None


def _whole(content: bytes, media_type: str) -> ArchivedPage | None:
    return ArchivedPage(content, media_type) if content else None


def _article(document: bytes) -> str:
    try:
        article = json.loads(document)
    except (ValueError, RecursionError):
        return ""
    return text_of(members_of(article).get("content"))


LINKWARDEN_ZIP = Importer(
    marked("Linkwarden zip"),
    lambda file: (
        any(map(_ARCHIVED.fullmatch, file.members))
        and file.zip is not None
        and next(_lists(file.zip), None) is not None
    ),
    _read_zip,
    ("zip",),
    marked("Linkwarden: a zip file of its JSON export and its archives folder"),
)
