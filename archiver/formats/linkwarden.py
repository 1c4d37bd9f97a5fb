"""Linkwarden's JSON: collections, each with its links; what is pinned stands apart."""

from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import of_object
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.rows import Row, text_of
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import MOST_DEPTH, folder_path
from archiver.model.message import marked

_OF_COLLECTION = ("description", "color", "icon")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    return of_object(file, _collected)


def _collected(document: dict[str, Any]) -> Iterator[Bookmark]:
    collections = [each for each in _list(document, "collections") if isinstance(each, dict)]
    known = {text_of(each.get("id")): each for each in collections}
    pinned = {
        text_of(each.get("id")) for each in _list(document, "pinnedLinks") if isinstance(each, dict)
    } - {""}
    for collection in collections:
        line = _line(collection, known)
        path = folder_path(unescape(text_of(each.get("name"))) for each in line)
        about = [facts for each in line if (facts := _about(each))]

        def bookmark(row: Row, path: str = path, about: list[Any] = about) -> Bookmark:
            row.put("collections", about)
            return _bookmark(row, path, pinned)

        yield from bookmarks_of(iter(_list(collection, "links")), bookmark)


def _bookmark(row: Row, path: str, pinned: set[str]) -> Bookmark:
    is_pinned = text_of(row.peek("id")) in pinned
    row.drop("collectionid")
    return row.bookmark(
        row.text("url"),
        title=unescape(row.text("name")),
        note=row.text("description"),
        added_at=row.moment("importdate", "createdat"),
        tags=row.names("tags"),
        folders=(path,) if path else (),
        is_starred=is_pinned,
    )


def _line(
    collection: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """A collection and those around it, from the outermost in."""
    line: list[Mapping[str, Any]] = []
    at: Mapping[str, Any] | None = collection
    while at is not None and len(line) < MOST_DEPTH:
        line.insert(0, at)
        parent = text_of(at.get("parentId"))
        at = known.get(parent) if parent else None
    return line


def _about(collection: Mapping[str, Any]) -> dict[str, Any]:
    """What a collection says beyond its name."""
    known = {name: collection.get(name) for name in _OF_COLLECTION if collection.get(name)}
    return {"name": collection.get("name"), **known} if known else {}


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    found = document.get(name)
    return found if isinstance(found, list) else []


LINKWARDEN = Importer(
    "Linkwarden JSON",
    lambda file: (
        "collections[].links" in file.json_paths
        or {"collections", "pinnedLinks"} <= file.json_paths
    ),
    _read,
    ("json",),
    marked("Linkwarden: Settings, Account, Export Data"),
)
