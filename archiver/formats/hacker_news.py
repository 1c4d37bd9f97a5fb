"""Hacker News: stories as its search API gives them, favourites among them."""

from archiver.formats.given_file import GivenFile
from archiver.formats.row_importers import json_importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_ITEM = "https://news.ycombinator.com/item?id="
_MOST_NOTE = 10_000


def _story(row: Row) -> Bookmark:
    number = row.text("objectid", "id")
    page = f"{_ITEM}{number}" if number else ""
    url = row.text("url", "storyurl") or page
    if page and page != url:
        row.put("discussion", page)
    return row.bookmark(
        url,
        title=row.text("title", "storytitle"),
        note=row.text("storytext")[:_MOST_NOTE],
        added_at=row.moment("createdat", "createdati", "time"),
    )


def _fits(file: GivenFile) -> bool:
    paths = file.json_paths
    return any({f"{at}objectID", f"{at}points"} <= paths for at in ("[].", "hits[]."))


HACKER_NEWS = json_importer(
    "Hacker News JSON",
    _fits,
    _story,
    origin=marked("Hacker News: what its search API gives"),
    within="hits",
)
