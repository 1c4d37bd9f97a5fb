"""Exports of social networks."""

import re
from collections.abc import Iterator
from typing import Any

from archiver.formats.importer import Importer, bookmarks_of, has_paths
from archiver.formats.json_values import JsonText
from archiver.formats.other_programs import on_reddit
from archiver.formats.rows import Row, items_of, members_of, objects_of, text_of
from archiver.formats.source_file import SourceFile
from archiver.model.annotation import Annotation
from archiver.model.message import marked
from archiver.model.seed import Bookmark

_MAX_NOTE = 10_000

# Reddit: the JSON of a list of posts and comments.


def _read_listing(file: SourceFile) -> Iterator[Bookmark]:
    for name, value in JsonText(file.chunks()).members():
        if isinstance(value, Bookmark):
            yield value
        elif name == "data":
            children = items_of(members_of(value).get("children"))
            yield from bookmarks_of(children, _reddit_item)


def _reddit_item(row: Row) -> Bookmark:
    """Return the link of a post or comment, which Reddit calls a thing."""
    row = Row(members_of(row.take("data")))
    permalink = on_reddit(row.text("permalink"))
    url = row.text("url", "linkurl") or permalink
    if permalink != url:
        row.put("permalink", permalink)
    subreddit = row.text("subreddit")
    return row.bookmark(
        url,
        title=row.text("title", "linktitle"),
        note=row.text("body", "selftext")[:_MAX_NOTE],
        added_at=row.moment("createdutc"),
        tags=(subreddit,) if subreddit else (),
    )


REDDIT_JSON = Importer(
    "Reddit JSON",
    has_paths("data.children[].data"),
    _read_listing,
    ("json",),
    marked("Reddit: /user/NAME/saved.json"),
    has_other_addresses=True,
)


# Mastodon's bookmarks and likes: an ActivityPub collection, mostly of bare addresses.


def _read_mastodon(file: SourceFile) -> Iterator[Bookmark]:
    for name, value in JsonText(file.chunks()).members("orderedItems"):
        if isinstance(value, Bookmark):
            yield value
        elif name == "orderedItems" and isinstance(value, str):
            yield Bookmark(Annotation(value))
        elif name == "orderedItems":
            yield from bookmarks_of([value], _activity)


def _activity(row: Row) -> Bookmark:
    within = row.peek("object")
    inner = members_of(within)
    url = text_of(within) or text_of(inner.get("url")) or text_of(inner.get("id"))
    return row.bookmark(url or row.text("url", "id"), added_at=row.moment("published"))


MASTODON = Importer(
    "Mastodon JSON",
    has_paths("orderedItems"),
    _read_mastodon,
    ("json",),
    marked(
        "Mastodon: the bookmarks and likes in an account archive (bookmarks.csv is read as plain "
        "text)"
    ),
    has_other_addresses=True,
)


# Telegram exports: each link with its message.

_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
_REDUNDANT_FIELDS = ("type", "text", "textentities")


def _read_telegram(file: SourceFile) -> Iterator[Bookmark]:
    chat = ""
    for name, value in JsonText(file.chunks()).members("messages"):
        if isinstance(value, Bookmark):
            yield value
        elif name == "name":
            chat = text_of(value)
        elif name == "messages":
            yield from _message(value, chat)
        elif name in ("chats", "left_chats"):
            for each in objects_of(members_of(value).get("list")):
                for message in items_of(each.get("messages")):
                    yield from _message(message, text_of(each.get("name")))


def _message(message: Any, chat: str) -> Iterator[Bookmark]:
    if not isinstance(message, dict):
        return
    parts = message.get("text_entities") or message.get("text")
    parts = parts if isinstance(parts, list) else [parts]
    pieces = [(_text(each), _href(each)) for each in parts]
    whole = "".join(text for text, _ in pieces).strip()
    seen = set()
    for text, href in pieces:
        urls = [href] if href else _ADDRESS.findall(text)
        for url in urls:
            if url not in seen:
                seen.add(url)
                row = Row(message)
                row.drop(*_REDUNDANT_FIELDS)
                yield row.bookmark(
                    url,
                    title=text if href and text != href else "",
                    note=whole[:_MAX_NOTE] if whole != url else "",
                    added_at=row.moment("dateunixtime", "date"),
                    folder=[chat],
                )


def _text(part: Any) -> str:
    return text_of(part.get("text")) if isinstance(part, dict) else text_of(part)


def _href(part: Any) -> str:
    if not isinstance(part, dict):
        return ""
    return text_of(part.get("href")) or (_text(part) if part.get("type") == "link" else "")


TELEGRAM = Importer(
    "Telegram JSON",
    has_paths("messages[].text", "chats.list[].messages"),
    _read_telegram,
    ("json",),
    marked("Telegram Desktop: Export chat history, machine-readable JSON"),
    has_other_addresses=True,
)


# Bookmarks and likes in an archive of X (Twitter): JSON assigned to a script variable.
# The URL of each post is imported, not the links in the post, which exist only in its text. Many
# posts in the archive consist of just an id.

_POST = "https://x.com/i/status/"
_BEGINS = re.compile(
    r"\ufeff?\s{0,99}window\.YTD\.(bookmark|like)s?\.part\d{1,9}\s{0,9}=\s{0,99}(?=\[)"
)


def _skip_assignment(chunks: Iterator[str]) -> Iterator[str]:
    text = ""
    for chunk in chunks:
        text += chunk
        if "=" in text:
            yield text.partition("=")[2]
            break
    yield from chunks


def _read_x(file: SourceFile) -> Iterator[Bookmark]:
    posts = JsonText(_skip_assignment(file.chunks())).values()
    return bookmarks_of(map(_unwrap_post, posts), _post)


def _unwrap_post(value: Any) -> Any:
    """Return a post without the wrapper named after its type."""
    if not isinstance(value, dict):
        return value
    inner = value.get("bookmark") or value.get("like")
    remaining = {name: each for name, each in value.items() if name not in ("bookmark", "like")}
    return remaining | inner if isinstance(inner, dict) else value


def _post(row: Row) -> Bookmark:
    number = row.text("tweetid")
    url = row.text("expandedurl") or (f"{_POST}{number}" if number.isdigit() else "")
    if number and number not in url:
        row.put("tweetId", number)
    return row.bookmark(
        url,
        note=row.text("fulltext")[:_MAX_NOTE],
        added_at=row.moment("bookmarkedat", "likedat", "createdat"),
    )


X_ARCHIVE = Importer(
    "X archive",
    lambda file: file.is_text and _BEGINS.match(file.text) is not None,
    _read_x,
    ("js", "json"),
    marked("X (Twitter): bookmark.js and like.js from its archive, or the whole zip file"),
    has_other_addresses=True,
)
