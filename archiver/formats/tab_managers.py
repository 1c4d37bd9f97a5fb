"""Exports of tab managers."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from archiver.formats.importer import Importer, has_paths
from archiver.formats.json_values import JsonText, of_object
from archiver.formats.rows import (
    MAX_URL,
    Row,
    members_of,
    names_of,
    objects_of,
    parse_date,
    text_of,
)
from archiver.formats.source_file import SourceFile
from archiver.model.annotation import Annotation
from archiver.model.message import marked
from archiver.model.seed import Bookmark

if TYPE_CHECKING:
    from datetime import datetime

# OneTab's text: lines of the form ``URL | Title``. An address within a title is not a link. Other
# lines are headings of groups of tabs: a name, a number of tabs, or a date.

_ONETAB = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{1,20}:\S+) \| \S", re.IGNORECASE)
_ADDRESS_FIRST = re.compile(r"\s*[a-z][a-z0-9+.-]{1,20}:\S", re.IGNORECASE)
_MAX_LINE = 10 * MAX_URL
_HEADING_WORDS = re.compile(r"[^\d]{0,30}?(?=\d)")


def _read_onetab(file: SourceFile) -> Iterator[Bookmark]:
    """Yield the tabs; the first ``|`` of a line ends the address.

    The date in a heading is the saving time of the tabs below the heading.
    """
    added_at: datetime | None = None
    for line in file.lines(_MAX_LINE):
        url, bar, title = f"{line} ".partition(" | ")
        if bar or ":" in url.partition(" ")[0]:
            title = " ".join(title.split())
            yield Bookmark(Annotation(url.strip()[:MAX_URL], added_at, title))
        elif words := _HEADING_WORDS.match(line):
            added_at = parse_date(line[words.end() :].strip())


def _fits(file: SourceFile) -> bool:
    lines = [line for line in file.text[:4096].splitlines()[:20] if line.strip()]
    tabs = sum(_ONETAB.match(line) is not None for line in lines)
    titles = [line for line in lines if not _ADDRESS_FIRST.match(line)]
    return file.is_text and tabs > 0 and not any("://" in line for line in titles)


ONETAB = Importer(
    marked("OneTab text"),
    _fits,
    _read_onetab,
    ("txt",),
    marked("OneTab: Export URLs (one URL | title per line)"),
)


# Session Buddy: collections, which contain folders with links; in version 3 sessions, which contain
# windows with tabs.


def _sessions(document: dict[str, Any]) -> Iterator[Bookmark]:
    for name in ("collections", "sessions"):
        for each in objects_of(document.get(name)):
            yield from _links(each, (), Row(each).moment("created", "generated", "updated"))


def _links(node: dict[str, Any], outer: tuple[str, ...], added_at: Any) -> Iterator[Bookmark]:
    folders = (*outer, text_of(node.get("title")) or text_of(node.get("name")))
    for name in ("folders", "windows"):
        for each in objects_of(node.get(name)):
            yield from _links(each, folders, added_at)
    for name in ("links", "tabs"):
        for each in objects_of(node.get(name)):
            row = Row(each)
            row.drop("faviconurl", "id")
            yield row.bookmark(
                row.text("url"),
                title=row.text("title", "customtitle"),
                added_at=added_at,
                folder=folders,
            )


SESSION_BUDDY = Importer(
    "Session Buddy JSON",
    has_paths("sessions[].windows[].tabs", "collections[].folders[].links"),
    lambda file: of_object(file, _sessions),
    ("json",),
    marked("Session Buddy: Export, JSON (versions 3 and 4)"),
)


# Tab Session Manager: sessions, which contain windows by id; each window contains tabs by id.


def _read_sessions(file: SourceFile) -> Iterator[Bookmark]:
    for session in JsonText(file.chunks()).values():
        if isinstance(session, Bookmark):
            yield session
            continue
        for window in members_of(members_of(session).get("windows")).values():
            for tab in members_of(window).values():
                if isinstance(tab, dict):
                    yield _tab(tab, session)


def _tab(tab: dict[str, Any], session: dict[str, Any]) -> Bookmark:
    row = Row(tab)
    row.drop("favicon", "faviconurl", "id", "index", "windowid", "height", "width")
    date = Row(session)
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=date.moment("date", "sessionstarttime", "lasteditedtime"),
        tags=names_of(session.get("tag")),
        folder=[text_of(session.get("name"))],
    )


TAB_SESSION_MANAGER = Importer(
    "Tab Session Manager JSON",
    has_paths("[].windows [].sessionStartTime"),
    _read_sessions,
    ("json",),
    marked("Tab Session Manager: Settings, Export"),
)
