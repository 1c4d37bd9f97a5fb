"""CSV exports of services that keep links."""

import re
from collections.abc import Iterator

from archiver.formats.importer import (
    Importer,
    bookmarks_of,
    has_columns,
    table_importer,
    table_rows,
)
from archiver.formats.rows import Row, both, guessed_tags, plain
from archiver.formats.source_file import GivenFile
from archiver.model.entry_list import folder_path
from archiver.model.message import marked
from archiver.model.seed import Bookmark

# Pocket's last export: CSV of 10,000 rows a file, in a zip; columns are found by name.


def _pocket_bookmark(row: Row) -> Bookmark:
    url = row.text("url", "givenurl", "resolvedurl")
    return row.bookmark(
        url,
        title=row.text("title"),
        added_at=row.moment("timeadded"),
        tags=row.names("tags", between="|"),
        is_read=row.word("status", "archive", "unread"),
        is_starred=row.flag("favorite"),
    )


POCKET = table_importer(
    "Pocket CSV",
    has_columns("url", "timeadded", "status"),
    _pocket_bookmark,
    origin=marked("Pocket: the zip of its export, or a file in it"),
)


# Instapaper's CSV: ``URL,Title,Selection,Folder`` and, since 2019, ``Timestamp`` and ``Tags``.

_STATES = ("unread", "archive", "starred")


def _instapaper_bookmark(row: Row) -> Bookmark:
    url = row.text("url")
    folder = row.text("folder")
    state = folder.lower() if folder.lower() in _STATES else ""
    return row.bookmark(
        url,
        title=row.text("title"),
        note=row.text("selection"),
        added_at=row.moment("timestamp"),
        tags=guessed_tags(row.take("tags")),
        folders=(folder_path([folder]),) if folder and not state else (),
        is_read=state == "archive",
        is_starred=state == "starred",
    )


INSTAPAPER = table_importer(
    "Instapaper CSV",
    has_columns("url", "title", "selection", "folder"),
    _instapaper_bookmark,
    origin=marked("Instapaper: Settings, Export, Download .CSV file"),
)


# Raindrop.io's CSV.

_NO_FOLDER = "unsorted"
_BETWEEN = " / "


def _raindrop_bookmark(row: Row) -> Bookmark:
    url = row.text("url", "link")
    folder = row.text("folder")
    names = folder.split(_BETWEEN) if folder.lower() != _NO_FOLDER else []
    return row.bookmark(
        url,
        title=row.text("title"),
        note=both(row.text("note"), row.text("excerpt")),
        added_at=row.moment("created"),
        tags=row.names("tags"),
        folders=(folder_path(names),) if folder_path(names) else (),
        is_starred=row.flag("favorite", "important"),
    )


RAINDROP = table_importer(
    "Raindrop.io CSV",
    has_columns("url", "folder", "excerpt"),
    _raindrop_bookmark,
    origin=marked("Raindrop.io: Settings, Backups or Export, CSV"),
)


# Readwise Reader's CSV; its tags are a Python list literal.

_QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
_ESCAPE = re.compile(r"\\(.)")
_FAVORITE = "favorite"


def _readwise_bookmark(row: Row) -> Bookmark:
    found = _QUOTED.findall(row.text("documenttags"))
    named = (_ESCAPE.sub(r"\1", one or other) for one, other in found)
    tags = tuple(dict.fromkeys(filter(None, named)))
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=row.moment("saveddate"),
        tags=tuple(each for each in tags if each.lower() != _FAVORITE),
        is_read=row.word("location", "archive"),
        is_starred=any(each.lower() == _FAVORITE for each in tags),
    )


READWISE = table_importer(
    "Readwise Reader CSV",
    has_columns("url", "documenttags"),
    _readwise_bookmark,
    origin=marked("Readwise Reader: Account settings, Export, CSV"),
)


# Matter's CSV.


def _matter_bookmark(row: Row) -> Bookmark:
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=row.moment("lastinteractiondate", "savedat"),
        tags=row.names("tags", between=";"),
        is_read=row.flag("read"),
        is_starred=row.flag("favorited"),
    )


MATTER = table_importer(
    "Matter CSV",
    has_columns("url", "inqueue"),
    _matter_bookmark,
    origin=marked("Matter: Profile, Settings, Export"),
)


# Diigo's CSV: ``title,url,tags,description,comments,annotations,created_at``.

_TAG = re.compile(r'"([^"]+)"|([^\s,"]+)')
_NO_TAG = "no_tag"


def _diigo_bookmark(row: Row) -> Bookmark:
    tags = row.text("tags")
    found = tags.split(",") if "," in tags else ["".join(each) for each in _TAG.findall(tags)]
    named = (each.strip() for each in found)
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        note=both(row.text("description"), row.text("comments")),
        added_at=row.moment("createdat"),
        tags=tuple(dict.fromkeys(each for each in named if each and each != _NO_TAG)),
    )


DIIGO = table_importer(
    "Diigo CSV",
    has_columns("url", "annotations", "comments"),
    _diigo_bookmark,
    origin=marked("Diigo: Tools, Export, CSV"),
)


# Google's *Saved* lists from Takeout: one CSV for each list, named after it.

_UNNAMED = ("default list", "saved", "export", "standard input", "upload")
_HEADERS = (
    ("title", "note", "url", "tags", "comment"),
    ("title", "note", "url", "comment"),
)


def _read(file: GivenFile) -> Iterator[Bookmark]:
    name = file.name.rpartition("/")[2].rpartition(".")[0]
    folders = (folder_path([name]),) if name and name.lower() not in _UNNAMED else ()

    def bookmark(row: Row) -> Bookmark:
        return row.bookmark(
            row.text("url"),
            title=row.text("title"),
            note=both(row.text("note"), row.text("comment")),
            tags=row.names("tags"),
            folders=folders,
        )

    return bookmarks_of(table_rows(file), bookmark)


def _fits(file: GivenFile) -> bool:
    """Return whether the header is Google's; many tables have some of these columns."""
    return file.table is not None and tuple(map(plain, file.table.header)) in _HEADERS


TAKEOUT_SAVED = Importer(
    "Google Saved CSV",
    _fits,
    _read,
    ("csv",),
    marked("Google Takeout: Saved; a file for each list, or the zip of them"),
)
