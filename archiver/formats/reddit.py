"""What was saved on Reddit: CSV of a data request, or the JSON of the list itself."""

from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.row_importers import bookmarks_of, has_columns, table_importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_REDDIT = "https://www.reddit.com"
_MOST_NOTE = 10_000


def _saved(row: Row) -> Bookmark:
    return row.bookmark(_on_reddit(row.text("permalink")), title=row.text("title"))


def _read_listing(file: GivenFile) -> Iterator[Bookmark]:
    for name, value in JsonText(file.chunks()).members():
        if isinstance(value, Bookmark):
            yield value
        elif name == "data" and isinstance(value, dict):
            children = value.get("children")
            yield from bookmarks_of(iter(children if isinstance(children, list) else ()), _thing)


def _thing(row: Row) -> Bookmark:
    data = row.take("data")
    row = Row(data if isinstance(data, dict) else {})
    permalink = _on_reddit(row.text("permalink"))
    url = row.text("url", "linkurl") or permalink
    if permalink != url:
        row.put("permalink", permalink)
    subreddit = row.text("subreddit")
    return row.bookmark(
        url,
        title=row.text("title", "linktitle"),
        note=row.text("body", "selftext")[:_MOST_NOTE],
        added_at=row.moment("createdutc"),
        tags=(subreddit,) if subreddit else (),
    )


def _on_reddit(permalink: str) -> str:
    return f"{_REDDIT}{permalink}" if permalink.startswith("/") else permalink


REDDIT = table_importer(
    "Reddit CSV",
    has_columns("id", "permalink"),
    _saved,
    origin=marked("Reddit: saved_posts.csv and saved_comments.csv of a data request"),
)
REDDIT_JSON = Importer(
    "Reddit JSON",
    lambda file: "data.children[].data" in file.json_paths,
    _read_listing,
    ("json",),
    marked("Reddit: /user/NAME/saved.json"),
)
