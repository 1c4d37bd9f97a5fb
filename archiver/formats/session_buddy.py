"""Session Buddy: collections of folders of links, or (version 3) sessions of windows of tabs."""

from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import of_object
from archiver.formats.rows import Row, text_of
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked


def _read(file: GivenFile) -> Iterator[Bookmark]:
    return of_object(file, _sessions)


def _sessions(document: dict[str, Any]) -> Iterator[Bookmark]:
    for name in ("collections", "sessions"):
        for each in _objects(document.get(name)):
            yield from _links(each, (), Row(each).moment("created", "generated", "updated"))


def _links(node: dict[str, Any], outer: tuple[str, ...], added_at: Any) -> Iterator[Bookmark]:
    folders = (*outer, text_of(node.get("title")) or text_of(node.get("name")))
    for name in ("folders", "windows"):
        for each in _objects(node.get(name)):
            yield from _links(each, folders, added_at)
    path = folder_path(folders)
    for name in ("links", "tabs"):
        for each in _objects(node.get(name)):
            row = Row(each)
            row.drop("faviconurl", "id")
            yield row.bookmark(
                row.text("url"),
                title=row.text("title", "customtitle"),
                added_at=added_at,
                folders=(path,) if path else (),
            )


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


SESSION_BUDDY = Importer(
    "Session Buddy JSON",
    lambda file: bool(
        {"sessions[].windows[].tabs", "collections[].folders[].links"} & file.json_paths
    ),
    _read,
    ("json",),
    marked("Session Buddy: Export, JSON; of version 3 and 4"),
)
