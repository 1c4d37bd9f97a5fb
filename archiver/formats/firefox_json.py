"""Firefox's own backup of bookmarks: JSON, a tree of places; times are µs since 1970."""

import io
from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import whole_json
from archiver.formats.lz4_block import MOST_UNPACKED, unpack_lz4
from archiver.formats.rows import Row, text_of
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.folder_path import folder_path
from archiver.model.message import marked
from archiver.model.row_problems import FOLDER_NESTED

MOZLZ4 = b"mozLz40\0"
_ROOTS = frozenset(
    "placesRoot bookmarksMenuFolder toolbarFolder unfiledBookmarksFolder mobileFolder".split()
)
_TAGS_ROOT = "tagsFolder"
_NOTE = "bookmarkProperties/description"
_TYPE = "text/x-moz-place"
_DEEPEST = 500


def _read(file: GivenFile) -> Iterator[Bookmark]:
    tree = whole_json(file)
    if isinstance(tree, Bookmark):
        yield tree
    else:
        yield from _nodes(tree, (), "")


def _read_packed(file: GivenFile) -> Iterator[Bookmark]:
    packed = file.stream().read(MOST_UNPACKED)
    text = unpack_lz4(packed[len(MOZLZ4) + 4 :])
    yield from _read(GivenFile(io.BytesIO(text), file.name))


def _nodes(node: Any, folders: tuple[str, ...], root: str) -> Iterator[Bookmark]:
    if not isinstance(node, dict):
        return
    if len(folders) > _DEEPEST:
        yield unreadable(text_of(node.get("title")), FOLDER_NESTED)
        return
    if node.get("uri"):
        yield _bookmark(node, folders, root)
    children = node.get("children")
    if not isinstance(children, list):
        return
    own = text_of(node.get("root")) or text_of(node.get("guid")).rstrip("_")
    if own in _ROOTS or (not folders and not root and "root" in node):
        inner: tuple[str, ...] = ()
        root = own
    else:
        inner = (*folders, text_of(node.get("title")))
    for each in children:
        yield from _nodes(each, inner, _TAGS_ROOT if own == _TAGS_ROOT else root)


def _bookmark(node: dict[str, Any], folders: tuple[str, ...], root: str) -> Bookmark:
    row = Row(node)
    row.drop("type", "typecode", "index", "id", "iconuri")
    is_tag = root == _TAGS_ROOT
    if root and not is_tag:
        row.put("root", root)
    path = "" if is_tag else folder_path(folders)
    tags = row.names("tags")
    return row.bookmark(
        row.text("uri"),
        title=row.text("title"),
        note=_note(row),
        added_at=row.moment("dateadded"),
        tags=(*folders[-1:], *tags) if is_tag else tags,
        folders=(path,) if path else (),
    )


def _note(row: Row) -> str:
    annotations = row.peek("annos")
    for each in annotations if isinstance(annotations, list) else ():
        if isinstance(each, dict) and each.get("name") == _NOTE:
            if len(annotations) == 1:
                row.drop("annos")
            return text_of(each.get("value")).strip()
    return ""


def _fits(file: GivenFile) -> bool:
    if not {"{}", "children"} <= file.json_paths:
        return False
    return "root" in file.json_paths or _TYPE in file.text


FIREFOX_JSON = Importer(
    "Firefox JSON",
    _fits,
    _read,
    ("json",),
    marked("Firefox: Manage bookmarks, Import and Backup, Backup"),
)
FIREFOX_JSONLZ4 = Importer(
    marked("Firefox backup (jsonlz4)"),
    lambda file: file.head.startswith(MOZLZ4),
    _read_packed,
    ("jsonlz4",),
    marked("Firefox: the folder bookmarkbackups of a profile"),
)
