"""Exports of other programs that are one table or one list of JSON objects.

``OTHER_PROGRAMS`` describes each by its columns or JSON paths, and by the names of its fields.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from archiver.formats.bibliographies import csl_bookmark
from archiver.formats.html_items import plain_text
from archiver.formats.importer import (
    Importer,
    bookmarks_of,
    has_columns,
    has_paths,
    json_importer,
    table_importer,
    table_rows,
)
from archiver.formats.rows import (
    FieldMap,
    Row,
    guessed_tags,
    join_texts,
    members_of,
    names_of,
    objects_of,
    plain_name,
    sensible,
    text_of,
)
from archiver.formats.source_file import SourceFile
from archiver.model.entry_list import folder_path
from archiver.model.message import marked
from archiver.model.seed import Bookmark

_STATES = ("unread", "archive", "starred")


def _instapaper_bookmark(row: Row) -> Bookmark:
    """Return a bookmark of Instapaper, whose built-in folders are states."""
    state = text_of(row.peek("folder")).lower()
    if state in _STATES:
        row.drop("folder")
    return _INSTAPAPER.bookmark(row, is_read=state == "archive", is_starred=state == "starred")


_INSTAPAPER = FieldMap(
    note="selection", added_at="timestamp", tags="tags", folder="folder", parse_tags=guessed_tags
)


def _raindrop_folders(text: str) -> tuple[str, ...]:
    return () if text.lower() == "unsorted" else (folder_path(text.split(" / ")),)


_QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
_ESCAPE = re.compile(r"\\(.)")
_FAVORITE = "favorite"


def _python_list(value: Any) -> tuple[str, ...]:
    """Return the strings in a Python list literal."""
    texts = (_ESCAPE.sub(r"\1", one or other) for one, other in _QUOTED.findall(text_of(value)))
    return tuple(dict.fromkeys(filter(None, texts)))


def _readwise_bookmark(row: Row) -> Bookmark:
    """Return a bookmark of Readwise Reader, where a tag marks favorites."""
    tags = _python_list(row.take("documenttags"))
    tag_names = tuple(each for each in tags if each.lower() != _FAVORITE)
    return _READWISE.bookmark(row, tags=tag_names, is_starred=tag_names != tags)


_READWISE = FieldMap(added_at="saveddate", is_read="location")

_DIIGO_TAG = re.compile(r'"([^"]+)"|([^\s,"]+)')


def _diigo_tags(value: Any) -> tuple[str, ...]:
    """Split tags at commas; if there are none, at spaces outside of double quotes."""
    text = text_of(value)
    names = text.split(",") if "," in text else map("".join, _DIIGO_TAG.findall(text))
    return tuple(each for each in names_of([*names]) if each != "no_tag")


def _twelve_hour_date(text: str) -> datetime | None:
    """Parse a date of wallabag's CSV, ``d/m/Y h:i:s``, which does not state a.m. or p.m."""
    for form in ("%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y"):
        try:
            return sensible(datetime.strptime(text, form).replace(tzinfo=UTC))
        except ValueError:
            continue
    return None


_UNNAMED = ("default list", "saved", "export", "standard input", "upload")
_TAKEOUT_HEADERS = (
    ("title", "note", "url", "tags", "comment"),
    ("title", "note", "url", "comment"),
)
_TAKEOUT = FieldMap(note="note", more_note="comment", tags="tags")


def _read_takeout(file: SourceFile) -> Iterator[Bookmark]:
    """Read a list from Google Takeout; the file name is the name of the list."""
    name = file.name.rpartition("/")[2].rpartition(".")[0]
    folders = (folder_path([name]),) if name and name.lower() not in _UNNAMED else ()
    return bookmarks_of(table_rows(file), lambda row: _TAKEOUT.bookmark(row, folders=folders))


def _is_takeout(file: SourceFile) -> bool:
    """Return whether the header is exactly Google's; other tables share some of its columns."""
    return file.table is not None and tuple(map(plain_name, file.table.header)) in _TAKEOUT_HEADERS


_REDDIT = "https://www.reddit.com"


def on_reddit(permalink: str) -> str:
    """Return the URL of a post by its permalink, which may be a path."""
    return f"{_REDDIT}{permalink}" if permalink.startswith("/") else permalink


def _reddit_bookmark(row: Row) -> Bookmark:
    return FieldMap().bookmark(row, on_reddit(row.text("permalink")))


OMNIVORE_FIELDS = FieldMap(
    url=("url", "originalarticleurl"),
    note="description",
    added_at="savedat",
    tags="labels",
    is_read="state",
)
PINBOARD_FIELDS = FieldMap(
    url=("href", "url"),
    title="description",
    note="extended",
    added_at=("time", "dt"),
    tags=("tags", "tag"),
    to_read="toread",
    parse_tags=lambda value: names_of(value, ""),
)

_ARCHIVEBOX = FieldMap(
    added_at=("bookmarkedat", "timestamp", "createdat"),
    tags=("tags", "tagsstr"),
    unused=tuple(
        "abid archivepath archivesize baseurl basename bookmarkeddate canonical crawl depth domain "
        "downloadedat extension favicon hash history icons isarchived isstatic latestoutputs "
        "linkdir newestarchivedate numoutputs numfailures oldestarchivedate outputs path scheme "
        "status type createdby modifiedat schema urlhash".split()
    ),
    parse_tags=guessed_tags,
)
"""Fields of ArchiveBox.

``is_archived`` is unused, because it means that ArchiveBox has a copy, not that the link was read.
``history`` is unused, because its addresses are those of ArchiveBox's output files.
"""
_ARCHIVEBOX_ONLY = frozenset({"archive_path", "bookmarked_date", "link_dir", "num_outputs"})


def _is_archivebox(file: SourceFile) -> bool:
    for within in ("", "[].", "links[]."):
        names = {each.removeprefix(within) for each in file.json_paths if each.startswith(within)}
        if {"timestamp", "url"} <= names and {"bookmarked_at", "sources", "history"} & names:
            return True
        if names & _ARCHIVEBOX_ONLY:
            return True
    return False


def _goodlinks_bookmark(row: Row) -> Bookmark:
    """Return a bookmark of GoodLinks, where ``readAt`` exists if the link was read."""
    return _GOODLINKS.bookmark(row, is_read=row.peek("readat") is not None)


_GOODLINKS = FieldMap(
    url=("url", "originalurl"),
    note="summary",
    added_at="addedat",
    tags="tags",
    is_starred="starred",
)


def _hypothesis_bookmark(row: Row) -> Bookmark:
    """Return the page of an annotation of Hypothes.is, with its highlight."""
    title = members_of(row.peek("document")).get("title")
    quote = _quote(row.peek("target"))
    highlight = {
        "quote": quote,
        "note": text_of(row.peek("text")),
        "created": text_of(row.peek("created")),
    }
    row.put("highlights", [{name: each for name, each in highlight.items() if each}])
    return _HYPOTHESIS.bookmark(
        row,
        title=text_of(title[0] if isinstance(title, list) and title else title),
        note=join_texts(f"> {quote}" if quote else "", row.text("text")),
    )


def _quote(target: Any) -> str:
    """Return the quotation in the selectors of an annotation's target (W3C annotations)."""
    for each in objects_of(target):
        for selector in objects_of(each.get("selector")):
            if selector.get("exact"):
                return " ".join(text_of(selector["exact"]).split())
    return ""


_HYPOTHESIS = FieldMap(url=("uri", "url"), title=(), added_at="created", tags="tags")

_HACKER_NEWS_ITEM = "https://news.ycombinator.com/item?id="


def _hacker_news_bookmark(row: Row) -> Bookmark:
    number = row.text("objectid", "id")
    page = f"{_HACKER_NEWS_ITEM}{number}" if number else ""
    url = row.text("url", "storyurl") or page
    if page and page != url:
        row.put("discussion", page)
    return _HACKER_NEWS.bookmark(row, url)


_HACKER_NEWS = FieldMap(
    title=("title", "storytitle"),
    note="storytext",
    added_at=("createdat", "createdati", "time"),
)

OTHER_PROGRAMS: tuple[Importer, ...] = (
    table_importer(
        "Pocket CSV",
        has_columns("url", "timeadded", "status"),
        FieldMap(
            url=("url", "givenurl", "resolvedurl"),
            added_at="timeadded",
            tags="tags",
            is_read="status",
            is_starred="favorite",
            parse_tags=lambda value: names_of(value, "|"),
        ).bookmark,
        origin=marked("Pocket: the exported zip file, or a file in it"),
    ),
    table_importer(
        "Instapaper CSV",
        has_columns("url", "title", "selection", "folder"),
        _instapaper_bookmark,
        origin=marked("Instapaper: Settings, Export, Download .CSV file"),
    ),
    table_importer(
        "Raindrop.io CSV",
        has_columns("url", "folder", "excerpt"),
        FieldMap(
            url=("url", "link"),
            note="note",
            more_note="excerpt",
            added_at="created",
            tags="tags",
            folder="folder",
            is_starred=("favorite", "important"),
            parse_folders=_raindrop_folders,
        ).bookmark,
        origin=marked("Raindrop.io: Settings, Backups or Export, CSV"),
    ),
    table_importer(
        "Readwise Reader CSV",
        has_columns("url", "documenttags"),
        _readwise_bookmark,
        origin=marked("Readwise Reader: Account settings, Export, CSV"),
    ),
    table_importer(
        "Matter CSV",
        has_columns("url", "inqueue"),
        FieldMap(
            added_at=("lastinteractiondate", "savedat"),
            tags="tags",
            is_read="read",
            is_starred="favorited",
            parse_tags=lambda value: names_of(value, ";"),
        ).bookmark,
        origin=marked("Matter: Profile, Settings, Export"),
    ),
    table_importer(
        "wallabag CSV",
        has_columns("title", "url", "content", "mimetype"),
        FieldMap(
            added_at="creationdate",
            tags="tags",
            page="content",
            parse_title=plain_text,
            parse_date=_twelve_hour_date,
        ).bookmark,
        origin=marked("wallabag: All entries, Export, CSV"),
    ),
    table_importer(
        "Readeck CSV",
        has_columns("url", "labels", "ismarked"),
        FieldMap(
            added_at=("created", "timestamp"),
            tags=("labels", "tags"),
            folder="folder",
            is_read=("isarchived", "state"),
            is_starred="ismarked",
            parse_tags=guessed_tags,
        ).bookmark,
        origin=marked("Readeck: Settings, Import and export, CSV"),
    ),
    table_importer(
        "Diigo CSV",
        has_columns("url", "annotations", "comments"),
        FieldMap(
            note="description",
            more_note="comments",
            added_at="createdat",
            tags="tags",
            parse_tags=_diigo_tags,
        ).bookmark,
        origin=marked("Diigo: Tools, Export, CSV"),
    ),
    Importer(
        "Google Saved CSV",
        _is_takeout,
        _read_takeout,
        ("csv",),
        marked("Google Takeout: Saved; one file per list, or the zip file"),
    ),
    table_importer(
        "Reddit CSV",
        has_columns("id", "permalink"),
        _reddit_bookmark,
        origin=marked("Reddit: saved_posts.csv and saved_comments.csv from a data request"),
    ),
    json_importer(
        "Omnivore JSON",
        has_paths("[].slug [].savedAt [].readingProgress"),
        OMNIVORE_FIELDS.bookmark,
        origin=marked(
            "Omnivore: a metadata file from its export (the zip file also contains the pages)"
        ),
    ),
    json_importer(
        "Pinboard JSON",
        has_paths("[].href [].extended", "[].href [].toread"),
        PINBOARD_FIELDS.bookmark,
        origin=marked("Pinboard: Settings, Backup, JSON"),
    ),
    json_importer(
        "wallabag JSON",
        has_paths("[].is_archived [].is_starred", "[].is_read [].is_fav"),
        FieldMap(
            url=("url", "givenurl"),
            added_at="createdat",
            tags="tags",
            page="content",
            is_read=("isarchived", "isread"),
            is_starred=("isstarred", "isfav"),
            unused=tuple(map(str, range(20))),  # wallabag 1 repeats each column by index
            parse_title=plain_text,
        ).bookmark,
        origin=marked("wallabag: All entries, Export, JSON (also from version 1)"),
    ),
    json_importer(
        "linkding JSON",
        has_paths("results[].tag_names", "[].tag_names"),
        FieldMap(
            note="description",
            more_note="notes",
            added_at="dateadded",
            tags="tagnames",
            is_read="isarchived",
            to_read="unread",
        ).bookmark,
        origin=marked("linkding: JSON from its API (/api/bookmarks/)"),
        within=("results",),
    ),
    json_importer(
        "GoodLinks JSON",
        has_paths("[].addedAt [].starred", "[].addedAt [].readAt"),
        _goodlinks_bookmark,
        origin=marked("GoodLinks: Settings, Export"),
    ),
    json_importer(
        "ArchiveBox JSON",
        _is_archivebox,
        _ARCHIVEBOX.bookmark,
        origin=marked(
            "ArchiveBox: index.json from old versions, or the output of archivebox list --json"
        ),
        within=("links",),
        has_other_addresses=True,
    ),
    json_importer(
        "Hypothes.is JSON",
        has_paths(
            "[].uri [].target",
            "rows[].uri rows[].target",
            "annotations[].uri annotations[].target",
        ),
        _hypothesis_bookmark,
        origin=marked("Hypothes.is: an export, or JSON from its API"),
        within=("rows", "annotations"),
    ),
    json_importer(
        "Hacker News JSON",
        has_paths("[].objectID [].points", "hits[].objectID hits[].points"),
        _hacker_news_bookmark,
        origin=marked("Hacker News: JSON from its search API (hn.algolia.com)"),
        within=("hits",),
        has_other_addresses=True,
    ),
    json_importer(
        "CSL JSON",
        has_paths("[].URL [].type [].title", "[].DOI [].type [].title"),
        csl_bookmark,
        origin=marked("Zotero and others: Export library, CSL JSON"),
    ),
)
