"""Bookmarks of Safari."""

import plistlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from archiver.formats.importer import Importer
from archiver.formats.rows import Row, text_of
from archiver.formats.source_file import GivenFile
from archiver.formats.xml_events import is_xml
from archiver.model.entry_list import folder_path
from archiver.model.imports import FOLDER_NESTED, NO_PROPERTY_LIST, format_problem
from archiver.model.message import marked
from archiver.model.seed import Bookmark, broken

BINARY = b"bplist00"
MOST = 64 << 20
_READING_LIST = "com.apple.ReadingList"
_ROOTS = {"BookmarksBar", "BookmarksMenu", _READING_LIST}
_REDUNDANT_FIELDS = frozenset(
    {"URLString", "URIDictionary", "ReadingList", "WebBookmarkType", "Children", "Sync"}
)
_DEEPEST = 200


def _read(file: GivenFile) -> Iterator[Bookmark]:
    try:
        tree = plistlib.loads(file.stream().read(MOST))
    # plistlib raises arbitrary exceptions for bad input: KeyError, struct.error, expat's own.
    except Exception as error:  # noqa: BLE001
        yield broken(file.name, format_problem(NO_PROPERTY_LIST, error or type(error).__name__))
        return
    if isinstance(tree, dict) and isinstance(tree.get("URL"), str):
        yield Row({}).bookmark(tree["URL"], title=_name(file.name))
    else:
        yield from _nodes(tree, (), "")


def _nodes(node: Any, folders: tuple[str, ...], root: str) -> Iterator[Bookmark]:
    if not isinstance(node, dict):
        return
    if len(folders) > _DEEPEST:
        yield broken(text_of(node.get("Title")), FOLDER_NESTED)
    elif isinstance(node.get("URLString"), str):
        yield _bookmark(node, folders, root)
    else:
        children = node.get("Children")
        title = text_of(node.get("Title"))
        is_root = title in _ROOTS or (not folders and not root and not title)
        inner = () if is_root else (*folders, title)
        for each in children if isinstance(children, list) else ():
            yield from _nodes(each, inner, title if is_root else root)


def _bookmark(node: dict[str, Any], folders: tuple[str, ...], root: str) -> Bookmark:
    own, reading = node.get("URIDictionary"), node.get("ReadingList")
    fields = dict(reading) if isinstance(reading, dict) else {}
    row = Row({name: _plain(each) for name, each in fields.items()})
    if root:
        row.put("root", root)
    for name in [each for each in node if each not in _REDUNDANT_FIELDS]:
        row.put(str(name), _plain(node[name]))
    path = folder_path(folders)
    return row.bookmark(
        node["URLString"],
        title=text_of(own.get("title")) if isinstance(own, dict) else "",
        note=row.text("previewtext"),
        added_at=row.moment("dateadded"),
        folders=(path,) if path else (),
        is_read=bool(row.peek("datelastviewed")),
        tags=("toread",) if root == _READING_LIST and not row.peek("datelastviewed") else (),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): text for name, each in value.items() if (text := _text(each))}
    return _text(value)


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else text_of(value)


def _name(filename: str) -> str:
    return filename.rpartition("/")[2].rpartition(".")[0]


def _fits(file: GivenFile) -> bool:
    return file.head.startswith(BINARY) or is_xml(file, "plist")


SAFARI = Importer(
    marked("Safari property list"),
    _fits,
    _read,
    ("plist", "webloc"),
    marked(
        "Safari: ~/Library/Safari/Bookmarks.plist, with its reading list; a .webloc "
        "file of the Finder"
    ),
)
