"""Hypothes.is: annotations as its API gives them; each is a highlight of the page it is on."""

from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.row_importers import json_importer
from archiver.formats.rows import Row, both, text_of
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked


def _bookmark(row: Row) -> Bookmark:
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


def _fits(file: GivenFile) -> bool:
    paths = file.json_paths
    return any({f"{at}uri", f"{at}target"} <= paths for at in ("[].", "rows[].", "annotations[]."))


HYPOTHESIS = json_importer(
    "Hypothes.is JSON",
    _fits,
    _bookmark,
    origin=marked("Hypothes.is: its API, or an export of it"),
    within="rows",
)
