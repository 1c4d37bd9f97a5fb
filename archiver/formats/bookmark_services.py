"""Exports of bookmarking services."""

from collections.abc import Iterator
from typing import Any

from archiver.formats.importer import Importer, bookmarks_of, json_importer
from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, both, guessed_tags, text_of
from archiver.formats.source_file import GivenFile
from archiver.formats.xml_events import elements, is_xml
from archiver.model.message import marked
from archiver.model.seed import Bookmark

# Pinboard's JSON: ``description`` is the title, ``extended`` the note.


def _pinboard_bookmark(row: Row) -> Bookmark:
    """Return a bookmark from Pinboard's JSON or XML fields; tags are a space-separated string."""
    url = row.text("href", "url")
    tags = row.names("tags", "tag", between="")
    is_later = row.flag("toread")
    return row.bookmark(
        url,
        title=row.text("description"),
        note=row.text("extended"),
        added_at=row.moment("time", "dt"),
        tags=(*tags, "toread") if is_later else tags,
    )


def _is_pinboard(file: GivenFile) -> bool:
    return "[].href" in file.json_paths and bool({"[].extended", "[].toread"} & file.json_paths)


PINBOARD = json_importer(
    "Pinboard JSON",
    _is_pinboard,
    _pinboard_bookmark,
    origin=marked("Pinboard: Settings, Backup, JSON"),
)


# Delicious XML, which Pinboard and others still write: ``<posts><post href="…"/>``.


def _read(file: GivenFile) -> Iterator[Bookmark]:
    for element in elements(file):
        if element.name == "post" and not element.is_end:
            yield from bookmarks_of(iter([dict(element.attributes)]), _pinboard_bookmark)


DELICIOUS_XML = Importer(
    marked("Pinboard or Delicious XML"),
    lambda file: is_xml(file, "posts"),
    _read,
    ("xml",),
    marked("Pinboard: Settings, Backup, XML; Delicious, and services with its API"),
)


# JSON of linkding's API: the pages of ``/api/bookmarks/``.


def _linkding_bookmark(row: Row) -> Bookmark:
    tags = row.names("tagnames")
    is_later = row.flag("unread")
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        note=both(row.text("description"), row.text("notes")),
        added_at=row.moment("dateadded"),
        tags=(*tags, "toread") if is_later else tags,
        is_read=row.flag("isarchived"),
    )


def _is_linkding(file: GivenFile) -> bool:
    return bool({"results[].tag_names", "[].tag_names"} & file.json_paths)


LINKDING = json_importer(
    "linkding JSON",
    _is_linkding,
    _linkding_bookmark,
    origin=marked("linkding: its API, /api/bookmarks/"),
    within="results",
)


# ArchiveBox: its index of all links, the index of one snapshot, or `archivebox list --json`.
# ``is_archived`` says that there is a copy, and ``history`` names the addresses of outputs.

_ARCHIVEBOX_FIELDS = frozenset({"archive_path", "bookmarked_date", "link_dir", "num_outputs"})
_OUTPUTS = tuple(
    "abid archivepath archivesize baseurl basename bookmarkeddate canonical crawl depth domain "
    "downloadedat extension favicon hash history icons isarchived isstatic latestoutputs linkdir "
    "newestarchivedate numoutputs numfailures oldestarchivedate outputs path scheme status type "
    "createdby modifiedat schema urlhash".split()
)


def _archivebox_bookmark(row: Row) -> Bookmark:
    row.drop(*_OUTPUTS)
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=row.moment("bookmarkedat", "timestamp", "createdat"),
        tags=guessed_tags(row.take("tags", "tagsstr")),
    )


def _read_archivebox(file: GivenFile) -> Iterator[Bookmark]:
    text = JsonText(file.chunks())
    if "links" in file.json_paths:
        values: Iterator[Any] = (
            value for name, value in text.members("links") if name in ("links", "")
        )
    else:
        values = text.values()
    return bookmarks_of(values, _archivebox_bookmark)


def _is_archivebox(file: GivenFile) -> bool:
    for within in ("", "[].", "links[]."):
        names = {each.removeprefix(within) for each in file.json_paths if each.startswith(within)}
        if {"timestamp", "url"} <= names and {"bookmarked_at", "sources", "history"} & names:
            return True
        if names & _ARCHIVEBOX_FIELDS:
            return True
    return False


ARCHIVEBOX = Importer(
    "ArchiveBox JSON",
    _is_archivebox,
    _read_archivebox,
    ("json", "jsonl"),
    marked("ArchiveBox: index.json of old versions, or archivebox list --json"),
)


# GoodLinks: ``readAt`` is there if the link was read.


def _goodlinks_bookmark(row: Row) -> Bookmark:
    return row.bookmark(
        row.text("url", "originalurl"),
        title=row.text("title"),
        note=row.text("summary"),
        added_at=row.moment("addedat"),
        tags=row.names("tags"),
        is_read=row.peek("readat") is not None,
        is_starred=row.flag("starred"),
    )


GOODLINKS = json_importer(
    "GoodLinks JSON",
    lambda file: (
        "[].addedAt" in file.json_paths
        and not {"[].starred", "[].readAt"}.isdisjoint(file.json_paths)
    ),
    _goodlinks_bookmark,
    origin=marked("GoodLinks: Settings, Export"),
)


# Hypothes.is: annotations from its API; each is a highlight of its page.


def _hypothesis_bookmark(row: Row) -> Bookmark:
    document = row.peek("document")
    title = document.get("title") if isinstance(document, dict) else ""
    title = title[0] if isinstance(title, list) and title else title
    quote = _quote(row.peek("target"))
    highlight = {
        "quote": quote,
        "note": text_of(row.peek("text")),
        "created": text_of(row.peek("created")),
    }
    row.put("highlights", [{name: each for name, each in highlight.items() if each}])
    return row.bookmark(
        row.text("uri", "url"),
        title=text_of(title),
        note=both(f"> {quote}" if quote else "", row.text("text")),
        added_at=row.moment("created"),
        tags=row.names("tags"),
    )


def _quote(target: Any) -> str:
    for each in target if isinstance(target, list) else ():
        selectors = each.get("selector") if isinstance(each, dict) else None
        for selector in selectors if isinstance(selectors, list) else ():
            if isinstance(selector, dict) and selector.get("exact"):
                return " ".join(text_of(selector["exact"]).split())
    return ""


def _is_hypothesis(file: GivenFile) -> bool:
    paths = file.json_paths
    return any({f"{at}uri", f"{at}target"} <= paths for at in ("[].", "rows[].", "annotations[]."))


HYPOTHESIS = json_importer(
    "Hypothes.is JSON",
    _is_hypothesis,
    _hypothesis_bookmark,
    origin=marked("Hypothes.is: its API, or an export of it"),
    within="rows",
)
