"""Karakeep's (Hoarder's) JSON: bookmarks, and the lists that they are in by their ids."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import of_object
from archiver.formats.plain_text import links_in_text
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.rows import Row, text_of
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import MOST_DEPTH, folder_path
from archiver.model.kept_page import KeptPage
from archiver.model.message import marked

_QUERY = "smart"
_OF_LIST = ("description", "icon")
_MOST_TEXT = 1 << 20


def _read(file: GivenFile) -> Iterator[Bookmark]:
    return of_object(file, _listed)


def _listed(document: dict[str, Any]) -> Iterator[Bookmark]:
    known = lists_of(document.get("lists"))
    bookmarks = document.get("bookmarks")
    rows = iter(bookmarks if isinstance(bookmarks, list) else ())
    yield from bookmarks_of(rows, lambda row: bookmark_of(row, known))


def lists_of(lists: Any) -> dict[str, Mapping[str, Any]]:
    """Lists by their ids; one that is a query has no members of its own."""
    return {
        text_of(each.get("id")): each
        for each in (lists if isinstance(lists, list) else ())
        if isinstance(each, dict) and each.get("type") != _QUERY
    }


def bookmark_of(
    row: Row, lists: Mapping[str, Mapping[str, Any]], page: KeptPage | str = ""
) -> Bookmark:
    """A bookmark, in lists by their ids, with what was kept of it.

    A note without an address is of the first one in its text; all of it is kept.
    """
    content = row.peek("content")
    content = dict(content) if isinstance(content, dict) else {}
    url = text_of(content.pop("url", None)) or text_of(content.pop("sourceUrl", None))
    if url:
        row.drop("content")
        if set(content) - {"type"}:
            row.put("content", content)
    else:
        url = next((each.annotation.url_given for each in _links(content.get("text"))), "")
    listed = row.peek("lists")
    ids = listed if isinstance(listed, list) else []
    paths = [_path(each, lists) for each in ids]
    if paths and all(paths):
        row.drop("lists")
    row.put("about lists", [known for each in ids if (known := _about(each, lists))])
    return row.bookmark(
        url,
        title=row.text("title"),
        note=row.text("note"),
        added_at=row.moment("createdat"),
        tags=row.names("tags"),
        folders=tuple(dict.fromkeys(filter(None, paths))),
        is_read=row.flag("archived"),
        is_starred=row.flag("favourited"),
        page=page,
    )


def _links(text: Any) -> Iterator[Bookmark]:
    return chain.from_iterable(map(links_in_text, text_of(text)[:_MOST_TEXT].split("\n")))


def _path(number: Any, lists: Mapping[str, Mapping[str, Any]]) -> str:
    names: list[str] = []
    at = text_of(number)
    while at in lists and len(names) < MOST_DEPTH:
        names.append(text_of(lists[at].get("name")))
        at = text_of(lists[at].get("parentId"))
    return folder_path(reversed(names))


def _about(number: Any, lists: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What a list says beyond its name and place."""
    own = lists.get(text_of(number), {})
    known = {name: own.get(name) for name in _OF_LIST if own.get(name)}
    return {"name": own.get("name"), **known} if known else {}


def _fits(file: GivenFile) -> bool:
    return bool({"bookmarks[].content", "bookmarks[].content.url"} & file.json_paths)


KARAKEEP = Importer(
    "Karakeep JSON",
    _fits,
    _read,
    ("json",),
    marked("Karakeep (Hoarder): Settings, Import and export"),
)
