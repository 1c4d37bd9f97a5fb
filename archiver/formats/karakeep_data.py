"""Karakeep's data directory as a zip: its database, ``db.db``, and the files that it kept beside.

See packages/db/schema.ts and packages/shared/assetdb.ts of its source.
"""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.karakeep import bookmark_of, lists_of
from archiver.formats.kept_pages import HTML, MOST_FILE
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.rows import text_of
from archiver.formats.sqlite_file import DatabaseDamagedError, rows_of, tables_of
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark, broken
from archiver.model.kept_page import KeptPage, html_page
from archiver.model.message import marked
from archiver.model.row_problems import DATABASE_ENDS, problem_of

_DATABASE = "db.db"
_TABLES = frozenset({"bookmarks", "bookmarklinks", "bookmarktags", "tagsonbookmarks"})
_ASSETS = "assets"
_MOST_METADATA = 1 << 16
_LISTS = "SELECT id, name, parentId, type FROM bookmarkLists"
_PARTS = {
    "assets": """(SELECT json_group_object(p.assetType, p.userId || '/' || p.id) FROM assets p
                  WHERE p.bookmarkId = b.id)""",
    "highlights": """(SELECT json_group_array(json_object({columns})) FROM highlights p
                      WHERE p.bookmarkId = b.id)""",
    "bookmarktexts": "(SELECT json_object({columns}) FROM bookmarkTexts p WHERE p.id = b.id)",
    "bookmarkassets": "(SELECT json_object({columns}) FROM bookmarkAssets p WHERE p.id = b.id)",
}
"""What lies in further tables, of which older versions have fewer, with fewer columns."""
_COLUMNS = {
    "highlights": ("text", "note", "color", "createdAt", "startOffset", "endOffset"),
    "bookmarktexts": ("text", "sourceUrl"),
    "bookmarkassets": ("fileName", "sourceUrl", "content"),
}
_THERE = """SELECT m.name AS part, p.name AS name FROM sqlite_master m, pragma_table_info(m.name) p
            WHERE m.type = 'table'"""
_BOOKMARKS = """
SELECT l.*, b.*, b.title AS "own title", l.title AS "page title",
    (SELECT json_group_array(t.name) FROM tagsOnBookmarks o
     JOIN bookmarkTags t ON t.id = o.tagId WHERE o.bookmarkId = b.id) AS "its tags",
    (SELECT json_group_array(listId) FROM bookmarksInLists i
     WHERE i.bookmarkId = b.id) AS "its lists",
    {assets} AS "its files", {highlights} AS "its highlights", {bookmarktexts} AS "its text",
    {bookmarkassets} AS "its file"
FROM bookmarks b LEFT JOIN bookmarkLinks l ON l.id = b.id ORDER BY b.createdAt, b.id
"""
_OF_BOOKMARK = ("archived", "favourited", "note", "summary", "source")
_OF_PAGE = ("url", "description", "author", "publisher", "datePublished", "dateModified")
_WHOLE = ("linkPrecrawledArchive", "linkFullPageArchive")
_REST = ("linkHtmlContent", "linkPdf", "bookmarkAsset")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    packed, name = file.zip, _database(file)
    if packed is None or not name:
        return
    stream = file.inner(packed.open(name), name).seekable()
    folder = name.removesuffix(_DATABASE)
    try:
        lists = lists_of([dict(each) for each in rows_of(stream, _LISTS)])
        for each in rows_of(stream, _BOOKMARKS.format(**_parts(stream))):
            page = _page(packed, f"{folder}{_ASSETS}/", each)
            read = partial(bookmark_of, lists=lists, page=page or "")
            yield from bookmarks_of(iter([_row(each)]), read)
    except DatabaseDamagedError as error:
        yield broken(name, problem_of(DATABASE_ENDS, error))


def _parts(stream: BinaryIO) -> Mapping[str, str]:
    """The expressions for what further tables tell of a bookmark, as far as those are there."""
    there = {(text_of(each["part"]).lower(), each["name"]) for each in rows_of(stream, _THERE)}
    tables = {table for table, _ in there}
    expressions = {}
    for table, expression in _PARTS.items():
        some = [name for name in _COLUMNS.get(table, ()) if (table, name) in there]
        columns = ", ".join(f"'{name}', p.{name}" for name in some)
        expressions[table] = expression.format(columns=columns) if table in tables else "NULL"
    return expressions


def _row(found: Mapping[str, Any]) -> dict[str, Any]:
    """A bookmark as Karakeep's own export has it, and its highlights."""
    content = {name: found.get(name) for name in _OF_PAGE}
    content |= _json(found["its file"], dict) | _json(found["its text"], dict)
    return {
        "title": found["own title"] or found["page title"],
        "createdAt": found.get("createdAt"),
        "tags": _json(found["its tags"], list),
        "lists": _json(found["its lists"], list),
        "highlights": _json(found["its highlights"], list),
        "content": {name: value for name, value in content.items() if value},
        **{name: found.get(name) for name in _OF_BOOKMARK},
    }


def _page(packed: Members, assets: str, found: Mapping[str, Any]) -> KeptPage | None:
    """The best of what was kept: the whole page, else its article, else its print."""
    files = _json(found["its files"], dict)
    if whole := _asset(packed, assets, files, _WHOLE):
        return whole
    if article := html_page(text_of(found.get("htmlContent"))):
        return article
    return _asset(packed, assets, files, _REST)


def _asset(
    packed: Members, assets: str, files: Mapping[str, Any], kinds: tuple[str, ...]
) -> KeptPage | None:
    for kind in kinds:
        folder = f"{assets}{text_of(files.get(kind))}"
        if kind in files and (data := packed.read(f"{folder}/asset.bin", MOST_FILE)):
            metadata = _json(packed.read(f"{folder}/metadata.json", _MOST_METADATA), dict)
            return KeptPage(data, text_of(metadata.get("contentType")) or HTML)
    return None


def _json(text: Any, kind: type) -> Any:
    """What a text of JSON holds, if it is of that kind; else nothing of it."""
    try:
        value = json.loads(text or "null")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, kind) else kind()


def _database(file: GivenFile) -> str:
    """The name of the database in the zip, in whatever folder; empty if there is none."""
    return next(
        (each for each in file.members if each == _DATABASE or each.endswith(f"/{_DATABASE}")), ""
    )


def _fits(file: GivenFile) -> bool:
    name, packed = _database(file), file.zip
    if not name or packed is None:
        return False
    return tables_of(file.inner(packed.open(name), name).seekable()) >= _TABLES


KARAKEEP_DATA = Importer(
    marked("Karakeep data"),
    _fits,
    _read,
    ("zip",),
    marked("Karakeep: its data directory as a zip, db.db and assets, with the pages it kept"),
)
