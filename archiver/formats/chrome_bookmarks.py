"""Chrome's own file of bookmarks: JSON, a tree below ``roots``; times are µs since 1601."""

from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import of_object
from archiver.formats.rows import Row, text_of
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.folder_path import folder_path
from archiver.model.message import marked
from archiver.model.row_problems import FOLDER_NESTED

_DEEPEST = 500
_NO_BOOKMARK = marked("This is no bookmark.")
_NO_ADDRESS = marked("This bookmark holds no address.")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    return of_object(file, _trees)


def _trees(document: dict[str, Any]) -> Iterator[Bookmark]:
    roots = document.get("roots")
    for name, node in roots.items() if isinstance(roots, dict) else ():
        if isinstance(node, dict):
            yield from _children(node, (), name)


def _children(folder: dict[str, Any], path: tuple[str, ...], root: str) -> Iterator[Bookmark]:
    if len(path) > _DEEPEST:
        yield unreadable(path[-1], FOLDER_NESTED)
        return
    children = folder.get("children")
    for node in children if isinstance(children, list) else ():
        if not isinstance(node, dict):
            yield unreadable(text_of(node), _NO_BOOKMARK)
        elif "children" in node:
            yield from _children(node, (*path, text_of(node.get("name"))), root)
        elif node.get("url"):
            yield _bookmark(node, path, root)
        else:
            yield unreadable(text_of(node.get("name")), _NO_ADDRESS)


def _bookmark(node: dict[str, Any], path: tuple[str, ...], root: str) -> Bookmark:
    row = Row(node)
    row.drop("type", "id")
    row.put("root", root)
    folders = folder_path(path)
    return row.bookmark(
        row.text("url"),
        title=row.text("name"),
        added_at=row.moment("dateadded"),
        folders=(folders,) if folders else (),
    )


CHROME_BOOKMARKS = Importer(
    marked("Chrome Bookmarks file"),
    lambda file: {"{}", "roots"} <= file.json_paths,
    _read,
    ("json",),
    marked("Chrome, Edge, Brave, Vivaldi: the file Bookmarks of a profile"),
)
