"""What an archive of X (Twitter) has of bookmarks and likes: JSON, given to a variable of a script.

A post is an address; what it links to stands in its text alone. Of many there is nothing but a
number.
"""

import re
from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_POST = "https://x.com/i/status/"
_BEGINS = re.compile(
    r"\ufeff?\s{0,99}window\.YTD\.(bookmark|like)s?\.part\d{1,9}\s{0,9}=\s{0,99}(?=\[)"
)
_MOST_NOTE = 10_000


def _behind_the_name(chunks: Iterator[str]) -> Iterator[str]:
    held = ""
    for chunk in chunks:
        held += chunk
        if "=" in held:
            yield held.partition("=")[2]
            break
    yield from chunks


def _read(file: GivenFile) -> Iterator[Bookmark]:
    yield from bookmarks_of(
        map(_post_in, JsonText(_behind_the_name(file.chunks())).values()), _post
    )


def _post_in(value: Any) -> Any:
    """What is said of a post, by itself: each lies under the name of its kind."""
    if not isinstance(value, dict):
        return value
    inner = value.get("bookmark") or value.get("like")
    others = {name: each for name, each in value.items() if name not in ("bookmark", "like")}
    return others | inner if isinstance(inner, dict) else value


def _post(row: Row) -> Bookmark:
    number = row.text("tweetid")
    url = row.text("expandedurl") or (f"{_POST}{number}" if number.isdigit() else "")
    if number and number not in url:
        row.put("tweetId", number)
    return row.bookmark(
        url,
        note=row.text("fulltext")[:_MOST_NOTE],
        added_at=row.moment("bookmarkedat", "likedat", "createdat"),
    )


X_ARCHIVE = Importer(
    "X archive",
    lambda file: file.is_text and _BEGINS.match(file.text) is not None,
    _read,
    ("js", "json"),
    marked("X (Twitter): bookmark.js and like.js of its archive, or the zip as it came"),
)
