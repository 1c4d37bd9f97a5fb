"""Exports of Karakeep (Hoarder)."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from html import escape
from itertools import chain
from typing import Any, BinaryIO

from archiver.formats.archive_members import Members, TarMembers
from archiver.formats.importer import Importer, bookmarks_of, has_paths
from archiver.formats.json_values import JsonText, of_object, whole_json
from archiver.formats.plain_text import links_in_text
from archiver.formats.rows import (
    FieldMap,
    Row,
    items_of,
    join_texts,
    members_of,
    objects_of,
    text_of,
)
from archiver.formats.saved_pages import HTML, MAX_FILE
from archiver.formats.source_file import SourceFile
from archiver.formats.sqlite_files import DatabaseDamagedError, query_rows, tables_of
from archiver.model.entry_list import MAX_DEPTH, folder_path
from archiver.model.imports import DATABASE_ENDS, format_problem
from archiver.model.listing import NOTES
from archiver.model.message import marked
from archiver.model.seed import ArchivedPage, Bookmark, broken, html_page

# JSON export: lists, and bookmarks that refer to the lists by id.

_SMART_LIST = "smart"
_LIST_FIELDS = ("description", "icon")
_MAX_TEXT = 1 << 20
Lists = Mapping[str, Mapping[str, Any]]
"""Lists by id."""


def _bookmarks_of_export(document: dict[str, Any]) -> Iterator[Bookmark]:
    read = partial(_bookmark, lists=_lists_of(document.get("lists")))
    return bookmarks_of(items_of(document.get("bookmarks")), read)


def _lists_of(lists: Any) -> Lists:
    """Return lists by id, without smart lists, which are queries and have no members."""
    return {
        text_of(each.get("id")): each
        for each in objects_of(lists)
        if each.get("type") != _SMART_LIST
    }


def _bookmark(row: Row, lists: Lists, page: ArchivedPage | None = None) -> Bookmark:
    """Return a bookmark with its lists and its archived page.

    A text note becomes an entry whose note is the whole text. The URL of the entry is the source
    URL of the note, or else the first URL in the text. If there is no URL, the text becomes an
    archived page.
    """
    content, note = dict(members_of(row.peek("content"))), ""
    url = text_of(content.pop("url", None)) or text_of(content.pop("sourceUrl", None))
    if url:
        row.drop("content")
        note = text_of(content.pop("text", None))
        if set(content) - {"type"}:
            row.put("content", content)
    else:
        text = text_of(content.get("text"))[:_MAX_TEXT]
        links = chain.from_iterable(map(links_in_text, text.split("\n")))
        url = next((each.annotation.url_given for each in links), "")
        if url:
            row.drop("content")
            note = text if text.strip() != url else ""
        elif text.strip():
            row.drop("content")
            url = _note_url(text_of(row.peek("noteid") or row.peek("id")) or text)
            page = _note_page(text)
    row.drop("noteid")
    ids = items_of(row.peek("lists"))
    paths = [_path(each, lists) for each in ids]
    if paths and all(paths):
        row.drop("lists")
    row.put("about lists", [metadata for each in ids if (metadata := _list_metadata(each, lists))])
    bookmark = _FIELDS.bookmark(
        row, url, folders=tuple(dict.fromkeys(filter(None, paths))), page=page or ""
    )
    noted = join_texts(bookmark.annotation.note, note)
    return (
        replace(bookmark, annotation=replace(bookmark.annotation, note=noted)) if note else bookmark
    )


_FIELDS = FieldMap(
    url=(),
    note="note",
    added_at="createdat",
    tags="tags",
    is_read="archived",
    is_starred="favourited",
)


def _note_url(identity: str) -> str:
    """Return the URL of a note that becomes a page; the URL is the same for each export."""
    number = sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]
    return f"https://karakeep{NOTES}/note/{number}"


def _note_page(text: str) -> ArchivedPage | None:
    paragraphs = "".join(f"<p>{escape(each)}</p>" for each in text.splitlines() if each.strip())
    return html_page(f"<!DOCTYPE html><meta charset=utf-8><article>{paragraphs}</article>")


def _path(list_id: Any, lists: Lists) -> str:
    names: list[str] = []
    at = text_of(list_id)
    while at in lists and len(names) < MAX_DEPTH:
        names.append(text_of(lists[at].get("name")))
        at = text_of(lists[at].get("parentId"))
    return folder_path(reversed(names))


def _list_metadata(list_id: Any, lists: Lists) -> dict[str, Any]:
    """Return the name, description and icon of a list; empty if it has only a name."""
    fields = lists.get(text_of(list_id), {})
    metadata = {name: fields.get(name) for name in _LIST_FIELDS if fields.get(name)}
    return {"name": fields.get("name"), **metadata} if metadata else {}


KARAKEEP = Importer(
    "Karakeep JSON",
    has_paths("bookmarks[].content"),
    lambda file: of_object(file, _bookmarks_of_export),
    ("json",),
    marked("Karakeep (Hoarder): Settings, Import / Export"),
)


FindAsset = Callable[[str], ArchivedPage | None]
"""Function that returns a bookmark's stored file of a given kind; None if there is none."""


def _best_copy(
    find: FindAsset, html: str, whole: Iterable[str], partial: Iterable[str]
) -> ArchivedPage | None:
    """Return the best archived copy of a page.

    Args:
        find: function that returns the stored file of a kind.
        html: the HTML of the article; empty if it is not known.
        whole: kinds of files with the whole page, which are preferred to ``html``.
        partial: kinds of files with the article or a PDF, which are used if ``html`` is empty.
    """
    return (
        next(filter(None, map(find, whole)), None)
        or html_page(html)
        or next(filter(None, map(find, partial)), None)
    )


# Output of ``karakeep dump``: a compressed tar of bookmarks (JSON lines), lists and assets.

_FORMAT = "karakeep.dump"
_MANIFEST, _DUMP_BOOKMARKS = "manifest.json", "bookmarks/index.jsonl"
_DUMP_FULL_PAGES = ("precrawledArchiveAssetId", "fullPageArchiveAssetId")
_DUMP_OTHER_COPIES = ("contentAssetId", "pdfAssetId", "assetId")
_MAX_MANIFEST = 1 << 20


def _read_dump(file: SourceFile) -> Iterator[Bookmark]:
    packed = file.tar
    if packed is None:
        return
    lists = _lists_of(_dump_json(packed, "lists/index.json"))
    members, assets = _lists_by_bookmark(packed), _assets(packed)
    source = SourceFile(packed.open(_DUMP_BOOKMARKS), _DUMP_BOOKMARKS)
    for value in JsonText(source.chunks()).values():
        page = _page_from_dump(packed, assets, _content(value))
        read = partial(_bookmark, lists=lists, page=page)
        yield from bookmarks_of([_bookmark_from_dump(value, members)], read)


def _content(value: Any) -> Mapping[str, Any]:
    return members_of(members_of(value).get("content"))


def _bookmark_from_dump(value: Any, members: Mapping[str, list[str]]) -> Any:
    """Convert a bookmark to the form of the JSON export: with lists, without page content."""
    if not isinstance(value, dict):
        return value
    content = {key: each for key, each in _content(value).items() if not _is_internal(key)}
    fields = {key: each for key, each in value.items() if key != "assets"}
    return fields | {"content": content, "lists": members.get(text_of(value.get("id")), [])}


def _is_internal(key: str) -> bool:
    """Return whether a field is the id of an asset or the page's content."""
    return key == "htmlContent" or key.endswith("AssetId")


def _lists_by_bookmark(packed: TarMembers) -> Mapping[str, list[str]]:
    """Return the ids of the lists of each bookmark, by its id."""
    document = _dump_json(packed, "lists/membership.json")
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for list_id, ids in members_of(document).items():
        for each in items_of(ids):
            paths[text_of(each)].append(list_id)
    return paths


def _assets(packed: TarMembers) -> Mapping[str, tuple[str, str]]:
    """Return the file name and media type of each asset, by its id."""
    return {
        text_of(each.get("id")): (text_of(each.get("filePath")), text_of(each.get("contentType")))
        for each in objects_of(_dump_json(packed, "assets/index.json"))
    }


def _page_from_dump(
    packed: TarMembers, assets: Mapping[str, tuple[str, str]], content: Mapping[str, Any]
) -> ArchivedPage | None:
    def find(kind: str) -> ArchivedPage | None:
        path, media_type = assets.get(text_of(content.get(kind)), ("", ""))
        data = packed.read(path, MAX_FILE) if path else b""
        return ArchivedPage(data, media_type or HTML) if data else None

    return _best_copy(
        find, text_of(content.get("htmlContent")), _DUMP_FULL_PAGES, _DUMP_OTHER_COPIES
    )


def _dump_json(packed: TarMembers, name: str) -> Any:
    return whole_json(SourceFile(packed.open(name), name))


def _is_dump(file: SourceFile) -> bool:
    if file.tar is None or _DUMP_BOOKMARKS not in file.tar.names:
        return False
    manifest = _json_value(file.tar.read(_MANIFEST, _MAX_MANIFEST), dict)
    return bool(manifest.get("format") == _FORMAT)


KARAKEEP_DUMP = Importer(
    marked("Karakeep dump"),
    _is_dump,
    _read_dump,
    ("gz",),
    marked("Karakeep: the file made by karakeep dump, including stored pages"),
)


# Karakeep's data directory as a zip: its database, ``db.db``, and its asset files.
# See packages/db/schema.ts and packages/shared/assetdb.ts in the source code of Karakeep.

_DATABASE = "db.db"
_TABLES = frozenset({"bookmarks", "bookmarklinks", "bookmarktags", "tagsonbookmarks"})
_ASSETS = "assets"
_MAX_METADATA = 1 << 16
_LISTS = "SELECT id, name, parentId, type FROM bookmarkLists"
_TABLE_EXPRESSIONS = {
    "assets": """(SELECT json_group_object(p.assetType, p.userId || '/' || p.id) FROM assets p
                  WHERE p.bookmarkId = b.id)""",
    "highlights": """(SELECT json_group_array(json_object({columns})) FROM highlights p
                      WHERE p.bookmarkId = b.id)""",
    "bookmarktexts": "(SELECT json_object({columns}) FROM bookmarkTexts p WHERE p.id = b.id)",
    "bookmarkassets": "(SELECT json_object({columns}) FROM bookmarkAssets p WHERE p.id = b.id)",
}
"""SQL expressions for the data of tables that only some versions of Karakeep have, by table."""
_COLUMNS = {
    "highlights": ("text", "note", "color", "createdAt", "startOffset", "endOffset"),
    "bookmarktexts": ("text", "sourceUrl"),
    "bookmarkassets": ("fileName", "sourceUrl", "content"),
}
_TABLE_COLUMNS = """
    SELECT lower(m.name) AS part, p.name AS name
    FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'
"""
_DATA_BOOKMARKS = """
SELECT l.*, b.*, b.id AS "own id", b.title AS "own title", l.title AS "page title",
    (SELECT json_group_array(t.name) FROM tagsOnBookmarks o
     JOIN bookmarkTags t ON t.id = o.tagId WHERE o.bookmarkId = b.id) AS "its tags",
    (SELECT json_group_array(listId) FROM bookmarksInLists i
     WHERE i.bookmarkId = b.id) AS "its lists",
    {assets} AS "its files", {highlights} AS "its highlights", {bookmarktexts} AS "its text",
    {bookmarkassets} AS "its file"
FROM bookmarks b LEFT JOIN bookmarkLinks l ON l.id = b.id ORDER BY b.createdAt, b.id
"""
_BOOKMARK_FIELDS = ("archived", "favourited", "note", "summary", "source")
_PAGE_FIELDS = ("url", "description", "author", "publisher", "datePublished", "dateModified")
_DATA_FULL_PAGES = ("linkPrecrawledArchive", "linkFullPageArchive")
_DATA_OTHER_COPIES = ("linkHtmlContent", "linkPdf", "bookmarkAsset")


def _read_data(file: SourceFile) -> Iterator[Bookmark]:
    packed, name = file.zip, _database(file)
    if packed is None or not name:
        return
    stream = file.inner(packed.open(name), name).seekable()
    assets = f"{name.removesuffix(_DATABASE)}{_ASSETS}/"
    try:
        lists = _lists_of([dict(each) for each in query_rows(stream, _LISTS)])
        for each in query_rows(stream, _DATA_BOOKMARKS.format(**_table_expressions(stream))):
            page = _page_from_database(packed, assets, each)
            read = partial(_bookmark, lists=lists, page=page)
            yield from bookmarks_of([_bookmark_from_database(each)], read)
    except DatabaseDamagedError as error:
        yield broken(name, format_problem(DATABASE_ENDS, error))


def _table_expressions(stream: BinaryIO) -> Mapping[str, str]:
    """Return ``_TABLE_EXPRESSIONS`` for this database; NULL for tables that do not exist."""
    existing = {
        (text_of(each["part"]).lower(), each["name"]) for each in query_rows(stream, _TABLE_COLUMNS)
    }
    tables = {table for table, _ in existing}
    expressions = {}
    for table, expression in _TABLE_EXPRESSIONS.items():
        names = [name for name in _COLUMNS.get(table, ()) if (table, name) in existing]
        columns = ", ".join(f"'{name}', p.{name}" for name in names)
        expressions[table] = expression.format(columns=columns) if table in tables else "NULL"
    return expressions


def _bookmark_from_database(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a database row to the form of the JSON export, with highlights."""
    content = {name: row.get(name) for name in _PAGE_FIELDS}
    content |= _json_value(row["its file"], dict) | _json_value(row["its text"], dict)
    return {
        "noteid": row["own id"],
        "title": row["own title"] or row["page title"],
        "createdAt": row.get("createdAt"),
        "tags": _json_value(row["its tags"], list),
        "lists": _json_value(row["its lists"], list),
        "highlights": _json_value(row["its highlights"], list),
        "content": {name: value for name, value in content.items() if value},
        **{name: row.get(name) for name in _BOOKMARK_FIELDS},
    }


def _page_from_database(
    packed: Members, assets: str, row: Mapping[str, Any]
) -> ArchivedPage | None:
    files = _json_value(row["its files"], dict)

    def find(kind: str) -> ArchivedPage | None:
        folder = f"{assets}{text_of(files.get(kind))}"
        data = packed.read(f"{folder}/asset.bin", MAX_FILE) if kind in files else b""
        if not data:
            return None
        metadata = _json_value(packed.read(f"{folder}/metadata.json", _MAX_METADATA), dict)
        return ArchivedPage(data, text_of(metadata.get("contentType")) or HTML)

    return _best_copy(find, text_of(row.get("htmlContent")), _DATA_FULL_PAGES, _DATA_OTHER_COPIES)


def _json_value(text: Any, kind: type) -> Any:
    """Parse a JSON text; return an empty ``kind`` if it is invalid or of another type."""
    try:
        value = json.loads(text or "null")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, kind) else kind()


def _database(file: SourceFile) -> str:
    """Return the name of the database in the zip, in any folder; empty if there is none."""
    return next(
        (each for each in file.members if each == _DATABASE or each.endswith(f"/{_DATABASE}")), ""
    )


def _is_data(file: SourceFile) -> bool:
    name, packed = _database(file), file.zip
    if not name or packed is None:
        return False
    return tables_of(file.inner(packed.open(name), name).seekable()) >= _TABLES


KARAKEEP_DATA = Importer(
    marked("Karakeep data directory"),
    _is_data,
    _read_data,
    ("zip",),
    marked("Karakeep: a zip file of its data directory (db.db and assets), including stored pages"),
)
