"""Bookmarks and history of browsers: Chromium, Firefox and Safari."""

import io
import plistlib
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

import lz4.block

from archiver.formats.importer import Importer, bookmarks_of, has_paths
from archiver.formats.json_values import of_object, whole_json
from archiver.formats.rows import FieldMap, Row, items_of, members_of, text_of
from archiver.formats.source_file import SourceFile
from archiver.formats.sqlite_files import DatabaseDamagedError, has_table_columns, query_rows
from archiver.formats.xml_events import is_xml_file
from archiver.model.imports import DATABASE_ENDS, FOLDER_NESTED, NO_PROPERTY_LIST, format_problem
from archiver.model.message import marked
from archiver.model.seed import Bookmark, broken, unreadable

# Chrome's bookmarks file: JSON with a tree under ``roots``; times are in µs since 1601.

_MAX_DEPTH = 500
_NO_BOOKMARK = marked("This is not a bookmark.")
_NO_ADDRESS = marked("This bookmark has no URL.")


def _trees(document: dict[str, Any]) -> Iterator[Bookmark]:
    for name, node in members_of(document.get("roots")).items():
        yield from _children(members_of(node), (), name)


def _children(folder: dict[str, Any], path: tuple[str, ...], root: str) -> Iterator[Bookmark]:
    if len(path) > _MAX_DEPTH:
        yield broken(path[-1], FOLDER_NESTED)
        return
    for node in items_of(folder.get("children")):
        if not isinstance(node, dict):
            yield unreadable(text_of(node), _NO_BOOKMARK)
        elif "children" in node:
            yield from _children(node, (*path, text_of(node.get("name"))), root)
        elif node.get("url"):
            yield _chromium_bookmark(node, path, root)
        else:
            yield unreadable(text_of(node.get("name")), _NO_ADDRESS)


def _chromium_bookmark(node: dict[str, Any], path: tuple[str, ...], root: str) -> Bookmark:
    row = Row(node)
    row.drop("type", "id")
    row.put("root", root)
    return row.bookmark(
        row.text("url"),
        title=row.text("name"),
        added_at=row.moment("dateadded"),
        folder=path,
    )


CHROME_BOOKMARKS = Importer(
    marked("Chrome Bookmarks file"),
    has_paths("{} roots"),
    lambda file: of_object(file, _trees),
    ("json",),
    marked("Chrome, Edge, Brave, Vivaldi: the Bookmarks file in your profile folder"),
)


# Databases of which one table is read: Chrome's ``History`` and buku's bookmarks.

_VISITED = "SELECT * FROM urls ORDER BY rowid"
_VISIT_FIELDS = FieldMap(added_at="lastvisittime", unused=("id", "hidden", "faviconid"))
_BUKU = "SELECT * FROM bookmarks ORDER BY rowid"
_BUKU_FIELDS = FieldMap(title="metadata", note="desc", tags="tags", unused="id")


def _table_reader(query: str, fields: FieldMap) -> Callable[[SourceFile], Iterator[Bookmark]]:
    """Return a reader that yields bookmarks from the rows of a query, without hidden rows."""

    def read(file: SourceFile) -> Iterator[Bookmark]:
        try:
            visible = (row for row in query_rows(file.seekable(), query) if not row.get("hidden"))
            yield from bookmarks_of(visible, fields.bookmark)
        except DatabaseDamagedError as error:
            yield broken(file.name, format_problem(DATABASE_ENDS, error))

    return read


CHROME_HISTORY = Importer(
    "Chrome History",
    lambda file: has_table_columns(file, "urls.url", "urls.last_visit_time"),
    _table_reader(_VISITED, _VISIT_FIELDS),
    (),
    marked(
        "Chrome, Edge, Brave, Vivaldi: the History file in your profile folder; every page is"
        " imported once"
    ),
)
BUKU = Importer(
    marked("buku database"),
    lambda file: has_table_columns(file, "bookmarks.url", "bookmarks.metadata"),
    _table_reader(_BUKU, _BUKU_FIELDS),
    ("db",),
    marked("buku: the bookmarks.db file"),
)

# Firefox's bookmarks backup: JSON with a tree of places; times are in µs since 1970.

MAX_UNPACKED = 64 << 20
_DAMAGED = marked("This file is damaged or incomplete. Copy it from your profile folder again.")
MOZLZ4 = b"mozLz40\0"
_JSON_ROOTS = frozenset(
    "placesRoot bookmarksMenuFolder toolbarFolder unfiledBookmarksFolder mobileFolder".split()
)
_TAGS_ROOT = "tagsFolder"
_NOTE = "bookmarkProperties/description"
_TYPE = "text/x-moz-place"


def _read_firefox(file: SourceFile) -> Iterator[Bookmark]:
    tree = whole_json(file)
    if isinstance(tree, Bookmark):
        yield tree
    else:
        yield from _firefox_nodes(tree, (), "")


def _read_packed(file: SourceFile) -> Iterator[Bookmark]:
    packed = file.stream().read(MAX_UNPACKED)
    start = len(MOZLZ4) + 4
    size = int.from_bytes(packed[len(MOZLZ4) : start], "little")
    try:
        text = lz4.block.decompress(packed[start:], uncompressed_size=min(size, MAX_UNPACKED))
    except lz4.block.LZ4BlockError:
        yield broken(file.name, _DAMAGED)
        return
    yield from _read_firefox(SourceFile(io.BytesIO(text), file.name))


def _firefox_nodes(node: Any, folders: tuple[str, ...], root: str) -> Iterator[Bookmark]:
    if not isinstance(node, dict):
        return
    if len(folders) > _MAX_DEPTH:
        yield broken(text_of(node.get("title")), FOLDER_NESTED)
        return
    if node.get("uri"):
        yield _firefox_bookmark(node, folders, root)
    name = text_of(node.get("root")) or text_of(node.get("guid")).rstrip("_")
    if name in _JSON_ROOTS or (not folders and not root and "root" in node):
        inner: tuple[str, ...] = ()
        root = name
    else:
        inner = (*folders, text_of(node.get("title")))
    for each in items_of(node.get("children")):
        yield from _firefox_nodes(each, inner, _TAGS_ROOT if name == _TAGS_ROOT else root)


def _firefox_bookmark(node: dict[str, Any], folders: tuple[str, ...], root: str) -> Bookmark:
    row = Row(node)
    row.drop("type", "typecode", "index", "id", "iconuri")
    is_tag = root == _TAGS_ROOT
    if root and not is_tag:
        row.put("root", root)
    tags = row.names("tags")
    return row.bookmark(
        row.text("uri"),
        title=row.text("title"),
        note=_note(row),
        added_at=row.moment("dateadded"),
        tags=(*folders[-1:], *tags) if is_tag else tags,
        folder=() if is_tag else folders,
    )


def _note(row: Row) -> str:
    annotations = items_of(row.peek("annos"))
    for each in annotations:
        if isinstance(each, dict) and each.get("name") == _NOTE:
            if len(annotations) == 1:
                row.drop("annos")
            return text_of(each.get("value")).strip()
    return ""


def _is_firefox(file: SourceFile) -> bool:
    if not {"{}", "children"} <= file.json_paths:
        return False
    return "root" in file.json_paths or _TYPE in file.text


FIREFOX_JSON = Importer(
    "Firefox JSON",
    _is_firefox,
    _read_firefox,
    ("json",),
    marked("Firefox: Manage bookmarks, Import and Backup, Backup"),
)
FIREFOX_JSONLZ4 = Importer(
    marked("Firefox backup (jsonlz4)"),
    lambda file: file.head.startswith(MOZLZ4),
    _read_packed,
    ("jsonlz4",),
    marked("Firefox: a file from the bookmarkbackups folder in your profile folder"),
)


# Firefox's ``places.sqlite``: bookmarks with folders, tags, keywords and notes.

_BOOKMARKS = "SELECT id, type, fk, parent, * FROM moz_bookmarks ORDER BY id"
_PAGES = """
    SELECT id, url, * FROM moz_places WHERE id IN (SELECT fk FROM moz_bookmarks WHERE type = 1)
"""
_KEYWORDS = "SELECT place_id, keyword FROM moz_keywords WHERE place_id IS NOT NULL"
_OLD_KEYWORDS = """
    SELECT b.fk, k.keyword FROM moz_bookmarks b JOIN moz_keywords k ON k.id = b.keyword_id
"""
"""Query for keywords before Firefox 40, which belonged to bookmarks instead of pages."""
_NOTES = """
    SELECT a.item_id AS item, a.content FROM moz_items_annos a
    JOIN moz_anno_attributes n ON n.id = a.anno_attribute_id
    WHERE n.name = 'bookmarkProperties/description'
"""
_LINK, _FOLDER = 1, 2
_PAGE_FIELDS = {
    "url": "url",
    "title": "page_title",
    "description": "description",
    "preview_image_url": "preview_image_url",
    "visit_count": "visit_count",
    "last_visit_date": "last_visit_date",
}
"""Page fields to import, with their new names. Firefox uses the others for ranking and search."""
_BOOKMARK_FIELDS = ("title", "dateAdded", "lastModified", "guid")
_PLACES_ROOTS = "SELECT folder_id, root_name FROM moz_bookmarks_roots"
"""Query for the names of the built-in folders until Firefox 62; they are not translated."""
_ROOT_GUIDS = {
    name.ljust(12, "_"): name for name in ("menu", "toolbar", "unfiled", "mobile", "tags")
}
"""Names of the built-in folders by their GUIDs, which are fixed since Firefox 62."""
_BUILT_IN_FOLDERS = frozenset({*_ROOT_GUIDS.values(), ""})


def _read_places(file: SourceFile) -> Iterator[Bookmark]:
    try:
        tree = _PlacesTree(file)
    except DatabaseDamagedError as error:
        yield broken(file.name, format_problem(DATABASE_ENDS, error))
        return
    yield from tree.bookmarks()


class _PlacesTree:
    """Bookmark data of a places database.

    Raises:
        DatabaseDamagedError: the database cannot be read.
    """

    def __init__(self, file: SourceFile) -> None:
        stream = file.seekable()
        nodes = [*query_rows(stream, _BOOKMARKS)]
        self._pages = {row["id"]: row for row in query_rows(stream, _PAGES)}
        self._notes = _texts(file, _NOTES, "moz_items_annos.item_id", "moz_anno_attributes.name")
        self._keywords = _texts(file, _KEYWORDS, "moz_keywords.place_id") or _texts(
            file, _OLD_KEYWORDS, "moz_keywords.keyword", "moz_bookmarks.keyword_id"
        )
        self._folders = {row["id"]: row for row in nodes if row["type"] == _FOLDER}
        roots = {
            **_texts(file, _PLACES_ROOTS, "moz_bookmarks_roots.root_name"),
            **{
                number: _ROOT_GUIDS[row["guid"]]
                for number, row in self._folders.items()
                if row.get("guid") in _ROOT_GUIDS
            },
        }
        self._paths = {
            number: _path_of_place(number, self._folders, roots) for number in self._folders
        }
        self._links = [row for row in nodes if row["type"] == _LINK and row["fk"] in self._pages]

    def bookmarks(self) -> Iterator[Bookmark]:
        """Yield the bookmarks in the order in which the browser shows them."""
        tags: dict[Any, list[str]] = {}
        for row in self._links:
            if (path := self._path_of(row))[:1] == ("tags",):
                tags.setdefault(row["fk"], []).append(path[-1])
        for row in sorted(self._links, key=lambda row: _tree_position(row, self._folders)):
            path, page = self._path_of(row), row["fk"]
            if path[:1] != ("tags",):
                fields = _fields(row, self._pages[page], self._keywords.get(page, ""))
                yield _place_bookmark(
                    fields, path, tags.get(page, []), self._notes.get(row["id"], "")
                )

    def _path_of(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        return self._paths.get(row["parent"], ())


def _fields(row: Mapping[str, Any], page: Mapping[str, Any], keyword: str) -> dict[str, Any]:
    """Return the importable fields of a bookmark and its page."""
    return {
        **{ours: page.get(name) for name, ours in _PAGE_FIELDS.items()},
        **{name: row.get(name) for name in _BOOKMARK_FIELDS},
        "keyword": keyword,
    }


def _texts(file: SourceFile, query: str, *columns: str) -> dict[Any, str]:
    """Return texts by key, as a query selects them; empty if ``columns`` do not exist."""
    if not has_table_columns(file, *columns):
        return {}
    rows = (tuple(row.values()) for row in query_rows(file.seekable(), query))
    return {key: text_of(value) for key, value in rows}


def _tree_position(row: Mapping[str, Any], folders: Mapping[Any, Mapping[str, Any]]) -> list[int]:
    """Return a bookmark's position in the tree: the positions of all its folders, and its own."""
    places: list[int] = []
    node: Mapping[str, Any] | None = row
    while node is not None and len(places) < _MAX_DEPTH:
        place = node.get("position")
        places.append(place if isinstance(place, int) else 0)
        node = folders.get(node["parent"])
    places.reverse()
    return places


def _path_of_place(
    number: Any, folders: Mapping[Any, Mapping[str, Any]], roots: Mapping[Any, str]
) -> tuple[str, ...]:
    """Return the names on a folder's path, which starts with a built-in folder."""
    names: list[str] = []
    seen = set()
    while number in folders and number not in seen and len(names) < _MAX_DEPTH:
        seen.add(number)
        names.append(roots.get(number) or text_of(folders[number]["title"]))
        number = folders[number]["parent"]
    names.reverse()
    return tuple(names[1:] if names[:1] in ([""], ["places"]) else names)


def _place_bookmark(
    row: Mapping[str, Any], path: tuple[str, ...], tags: list[str], note: str
) -> Bookmark:
    row_of_place = Row(row)
    if path[:1] and path[0] in _BUILT_IN_FOLDERS:
        row_of_place.put("root", path[0])
        path = path[1:]
    title, page_title = row_of_place.text("title"), text_of(row_of_place.peek("pagetitle"))
    if title == page_title:
        row_of_place.drop("pagetitle")
    return row_of_place.bookmark(
        row_of_place.text("url"),
        title=title,
        note=note.strip(),
        added_at=row_of_place.moment("dateadded"),
        tags=tuple(dict.fromkeys(tags)),
        folder=path,
    )


PLACES = Importer(
    "Firefox places.sqlite",
    lambda file: has_table_columns(file, "moz_places.url", "moz_bookmarks.fk"),
    _read_places,
    ("sqlite",),
    marked(
        "Firefox: the places.sqlite file in your profile folder; imports bookmarks, not history"
    ),
)

BINARY = b"bplist00"
MAX_PROPERTY_LIST = 64 << 20
_READING_LIST = "com.apple.ReadingList"
_ROOTS = {"BookmarksBar", "BookmarksMenu", _READING_LIST}
_REDUNDANT_FIELDS = frozenset(
    {"URLString", "URIDictionary", "ReadingList", "WebBookmarkType", "Children", "Sync"}
)
_MAX_SAFARI_DEPTH = 200


def _read_safari(file: SourceFile) -> Iterator[Bookmark]:
    try:
        tree = plistlib.loads(file.stream().read(MAX_PROPERTY_LIST))
    # For bad input, plistlib raises arbitrary exceptions, such as KeyError and struct.error.
    except Exception as error:  # noqa: BLE001
        yield broken(file.name, format_problem(NO_PROPERTY_LIST, error or type(error).__name__))
        return
    if isinstance(tree, dict) and isinstance(tree.get("URL"), str):
        yield Row({}).bookmark(tree["URL"], title=_name(file.name))
    else:
        yield from _safari_nodes(tree, (), "")


def _safari_nodes(node: Any, folders: tuple[str, ...], root: str) -> Iterator[Bookmark]:
    if not isinstance(node, dict):
        return
    if len(folders) > _MAX_SAFARI_DEPTH:
        yield broken(text_of(node.get("Title")), FOLDER_NESTED)
    elif isinstance(node.get("URLString"), str):
        yield _safari_bookmark(node, folders, root)
    else:
        title = text_of(node.get("Title"))
        is_root = title in _ROOTS or (not folders and not root and not title)
        inner = () if is_root else (*folders, title)
        for each in items_of(node.get("Children")):
            yield from _safari_nodes(each, inner, title if is_root else root)


def _safari_bookmark(node: dict[str, Any], folders: tuple[str, ...], root: str) -> Bookmark:
    fields = members_of(node.get("ReadingList"))
    row = Row({name: _plain(each) for name, each in fields.items()})
    if root:
        row.put("root", root)
    for name in [each for each in node if each not in _REDUNDANT_FIELDS]:
        row.put(str(name), _plain(node[name]))
    return row.bookmark(
        node["URLString"],
        title=text_of(members_of(node.get("URIDictionary")).get("title")),
        note=row.text("previewtext"),
        added_at=row.moment("dateadded"),
        folder=folders,
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


def _is_safari(file: SourceFile) -> bool:
    return file.head.startswith(BINARY) or is_xml_file(file, "plist")


SAFARI = Importer(
    marked("Safari property list"),
    _is_safari,
    _read_safari,
    ("plist", "webloc"),
    marked(
        "Safari: ~/Library/Safari/Bookmarks.plist, including the reading list; or a .webloc file "
        "from Finder"
    ),
)
