"""Entries as Markdown: ``<hash_url>/index.md`` with pictures, and links between; or one text."""

import asyncio
import zipfile
from bisect import bisect_left
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import IO, cast

from archiver.books.epub import PICTURES
from archiver.books.markdown import to_markdown
from archiver.books.page import about
from archiver.books.pictures import with_pictures
from archiver.errors import InvalidUrl
from archiver.formats.markdown import entry_markdown, quotations
from archiver.html.colours import plain
from archiver.html.shown_article import links_of, without_title
from archiver.index import entries
from archiver.index.database import Database
from archiver.model.capture import HashUrl
from archiver.model.chapter import Picture
from archiver.model.entry import Entry, Snapshot
from archiver.services.article_pictures import ArticlePictures
from archiver.services.books import chapter_of
from archiver.services.entries import SnapshotDetail
from archiver.services.entries_shown import EntriesShown
from archiver.services.packages import Sink
from archiver.store.segments import SegmentStore
from archiver.urls.parse import hash_url, parse_url

MOST_LINKS = 2_000
"""Of an article, that are led to other entries."""
BETWEEN = "\n---\n\n"
_MODE = 0o644
_SUFFIXES = PICTURES | {"image/avif": "avif", "image/bmp": "bmp", "image/x-icon": "ico"}


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the tree: where it lies in it, and what it holds. An entry's text comes last."""

    path: str
    data: bytes


class MarkdownTree:
    """Writes entries as Markdown."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._shown = EntriesShown(db, store)
        self._pictures = ArticlePictures(db, store)

    async def members(
        self, rows: Sequence[int], at: str | None = None
    ) -> AsyncGenerator[Member, None]:
        """The files of these entries, at their newest snapshots or at those nearest to a moment."""
        async for entry, shown in self._shown.each(rows, at):
            for member in await self._members(entry, shown, rows):
                yield member

    async def zip(self, rows: Sequence[int], at: str | None = None) -> AsyncGenerator[bytes, None]:
        """All of them as a zip file."""
        sink = Sink()
        packed = zipfile.ZipFile(cast("IO[bytes]", sink), "w", zipfile.ZIP_DEFLATED)
        async with aclosing(self.members(rows, at)) as members:
            async for each in members:
                info = zipfile.ZipInfo(each.path)
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, _MODE << 16
                await asyncio.to_thread(packed.writestr, info, each.data)
                yield sink.take()
        packed.close()
        yield sink.take()

    async def text(self, rows: Sequence[int], at: str | None = None) -> AsyncGenerator[bytes, None]:
        """All of them as one text, one under another; what they show and lead to is on the web."""
        written = 0
        async for entry, shown in self._shown.each(rows, at):
            number = 0 if len(rows) == 1 else written + 1
            made = await asyncio.to_thread(_as_text, entry, shown, number)
            yield f"{BETWEEN if written else ''}{made}".encode("utf-8", "replace")
            written += 1

    async def write(self, rows: Sequence[int], directory: Path) -> AsyncIterator[HashUrl]:
        """Write them to a directory; tells of each entry once it is there."""
        async for each in self.members(rows):
            await asyncio.to_thread(_replace, directory / each.path, each.data)
            if each.path.endswith("/index.md"):
                yield HashUrl(each.path.partition("/")[0])

    async def _members(
        self, entry: Entry, shown: SnapshotDetail | None, rows: Sequence[int]
    ) -> list[Member]:
        if shown is None:
            return [_text(entry, None, "")]
        html = without_title(await asyncio.to_thread(plain, shown.article), entry.title)
        pictures = await self._pictures.of(html, shown.snapshot.timestamp)
        held = await self._held(html, rows)
        return await asyncio.to_thread(_made, entry, shown.snapshot, html, pictures, held)

    async def _held(self, html: str, rows: Sequence[int]) -> dict[str, HashUrl]:
        """What an article links to that is in this tree, by address."""
        named = {}
        for url in await asyncio.to_thread(links_of, html, MOST_LINKS):
            try:
                named[url] = hash_url(parse_url(url))
            except InvalidUrl:
                continue
        async with self._db.read() as conn:
            known = await entries.rows_of(conn, [*{*named.values()}])
        here = {key for key, row in known.items() if _is_among(rows, row)}
        return {url: key for url, key in named.items() if key in here}


def _made(
    entry: Entry,
    snapshot: Snapshot,
    html: str,
    pictures: Mapping[str, Picture],
    held: Mapping[str, HashUrl],
) -> list[Member]:
    """An entry's text, and before it the pictures it shows."""
    names: dict[str, str] = {}
    members = []
    for number, (url, picture) in enumerate(pictures.items(), 1):
        names[url] = f"pictures/{number:03}.{_SUFFIXES[picture.media_type]}"
        members.append(Member(f"{entry.hash_url}/{names[url]}", picture.data))

    def lead(address: str) -> str:
        url, mark, fragment = address.partition("#")
        if url in held:
            return f"../{held[url]}/index.md{mark}{fragment}"
        return "" if address.startswith("#") else address

    placed = with_pictures(html, lambda urls: next((names[u] for u in urls if u in names), ""))
    return [*members, _text(entry, snapshot, to_markdown(placed, lead))]


def _as_text(entry: Entry, shown: SnapshotDetail | None, number: int) -> str:
    """An entry under its title: behind front matter where it is alone, else with what that says.

    ``number`` is which it is of several, 0 of one that is alone: notes of each have labels of their
    own.
    """
    html = without_title(plain(shown.article), entry.title) if shown else ""
    placed = with_pictures(html, lambda urls: next(iter(urls), ""))
    labelled = f"{number}-" if number else ""
    article = to_markdown(placed, _elsewhere, labelled=labelled)
    snapshot = shown.snapshot if shown else None
    chapter = chapter_of(entry, snapshot, "")
    said = f"<p>{about(chapter)}</p>" if number else ""
    if chapter.note and number:
        said += f"<blockquote>{escape(chapter.note)}</blockquote>"
    above = to_markdown(f"<h1>{escape(chapter.title)}</h1>{said}")
    body = "\n".join(filter(None, (above, article, _quoted(entry))))
    return body if number else entry_markdown(entry, snapshot, body)


def _elsewhere(led: str) -> str:
    """Where a link leads, if that is not within its own page."""
    return "" if led.startswith("#") else led


def _quoted(entry: Entry) -> str:
    """What was marked in an entry, under a heading."""
    marked = entry.annotation.highlights
    return "## Highlights\n\n" + "\n".join(quotations(marked)) + "\n" if marked else ""


def _text(entry: Entry, snapshot: Snapshot | None, article: str) -> Member:
    quoted = _quoted(entry)
    text = entry_markdown(entry, snapshot, f"{article}\n{quoted}" if quoted else article)
    return Member(f"{entry.hash_url}/index.md", text.encode("utf-8", "replace"))


def _is_among(rows: Sequence[int], row: int) -> bool:
    place = bisect_left(rows, row)
    return place < len(rows) and rows[place] == row


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that it is the old one or the new one at every moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f"{path.suffix}.part")
    unfinished.write_bytes(data)
    unfinished.replace(path)
