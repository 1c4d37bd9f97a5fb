"""Tab Session Manager: sessions of windows of tabs, each by their numbers."""

from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, names_of, text_of
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked


def _read(file: GivenFile) -> Iterator[Bookmark]:
    for session in JsonText(file.chunks()).values():
        if isinstance(session, Bookmark):
            yield session
            continue
        windows = session.get("windows") if isinstance(session, dict) else None
        for window in windows.values() if isinstance(windows, dict) else ():
            for tab in window.values() if isinstance(window, dict) else ():
                if isinstance(tab, dict):
                    yield _tab(tab, session)


def _tab(tab: dict[str, Any], session: dict[str, Any]) -> Bookmark:
    row = Row(tab)
    row.drop("favicon", "faviconurl", "id", "index", "windowid", "height", "width")
    date = Row(session)
    path = folder_path([text_of(session.get("name"))])
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=date.moment("date", "sessionstarttime", "lasteditedtime"),
        tags=names_of(session.get("tag")),
        folders=(path,) if path else (),
    )


TAB_SESSION_MANAGER = Importer(
    "Tab Session Manager JSON",
    lambda file: {"[].windows", "[].sessionStartTime"} <= file.json_paths,
    _read,
    ("json",),
    marked("Tab Session Manager: Settings, Export"),
)
