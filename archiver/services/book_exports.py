"""Articles as books and Markdown folders, with their images."""

import asyncio
import zipfile
from bisect import bisect_left
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import IO, cast

from archiver.crawl.stored_content import holder_at, read_payload
from archiver.db import entries
from archiver.db.engine import Database
from archiver.errors import InputError, NotFound
from archiver.formats import single_page
from archiver.formats.entry_markdown import entry_markdown, quotations
from archiver.formats.epub import PICTURES, Epub
from archiver.formats.markdown import to_markdown
from archiver.formats.single_page import about, image_candidates, with_pictures
from archiver.helpers import scratch_file
from archiver.model.capture import Capture, HashUrl, Timestamp
from archiver.model.entry import Entry, Snapshot
from archiver.model.page import Chapter, Picture
from archiver.pages.shown_article import links_of, without_title
from archiver.pages.syntax_highlighting import without_highlighting
from archiver.services.entries import SnapshotDetail, hash_urls_of
from archiver.services.export_selection import (
    ExportedEntries,
    Manifest,
    Report,
    Selected,
    make_manifest,
)
from archiver.services.warc_export import Sink
from archiver.warc.segments import SegmentStore

MAX_PICTURES = 300
MAX_PICTURE_BYTES = 10 << 20
MAX_ARTICLE_BYTES = 40 << 20
"""Maximum bytes of images per article; further images are dropped."""
_SHOWN = frozenset(PICTURES) | {"image/avif", "image/bmp", "image/x-icon"}


class ArticlePictures:
    """Finder of archived images in articles."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def of(
        self, html: str, moment: Timestamp, *, most: int = MAX_ARTICLE_BYTES
    ) -> dict[str, Picture]:
        """Return the images of an article by URL, each as archived closest to a timestamp.

        Args:
            html: sanitised HTML of the article.
            moment: timestamp of the article's snapshot.
            most: maximum total bytes; further images are dropped.
        """
        bytes_left = min(most, MAX_ARTICLE_BYTES)
        pictures: dict[str, Picture] = {}
        alternatives = [each for each in image_candidates(html) if each][:MAX_PICTURES]
        for urls in alternatives:
            if pictures.keys().isdisjoint(urls) and (archived := await self._first(urls, moment)):
                url, picture = archived
                if len(picture.data) <= bytes_left:
                    bytes_left -= len(picture.data)
                    pictures[url] = picture
        return pictures

    async def _first(self, urls: Sequence[str], moment: Timestamp) -> tuple[str, Picture] | None:
        """Return the first of the URLs that has an archived image, and this image.

        Of several captures of a URL, the one closest to ``moment`` is used.
        """
        for url in urls:
            async with self._db.read() as conn:
                holder = await holder_at(conn, url, moment)
            if holder and (picture := await asyncio.to_thread(self._picture, holder)):
                return url, picture
        return None

    def _picture(self, holder: Capture) -> Picture | None:
        payload = read_payload(self._store, holder, MAX_PICTURE_BYTES)
        is_shown = payload is not None and payload.media_type in _SHOWN
        return Picture(payload.media_type, payload.content) if payload and is_shown else None


MAX_ARTICLES = 2_000
"""Maximum articles in one book or page."""
MAX_BYTES = 1 << 30
"""Maximum bytes of all images in one export."""
PIECE = 256 << 10


class Books:
    """Exports of articles as one HTML page or as an EPUB."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._shown = ExportedEntries(db, store)
        self._pictures = ArticlePictures(db, store)

    async def begin(self, selected: Selected) -> Manifest:
        """Return a manifest of the entries to export.

        Raises:
            NotFound: there is nothing to export.
            InputError: too many articles, or an invalid selection.
        """
        manifest = await make_manifest(self._db, selected)
        if len(manifest.entries) > MAX_ARTICLES:
            raise InputError(
                "The export has {count} articles, but one file can hold at most {most}. Narrow "
                "it down with a search, such as tag:… or added:2024.",
                count=len(manifest.entries),
                most=MAX_ARTICLES,
            )
        return manifest

    async def html(
        self, manifest: Manifest, report: Report, *, title: str
    ) -> AsyncGenerator[bytes, None]:
        """Yield one HTML page with all articles."""
        async with self._db.read() as conn:
            entries_by_id = await entries.by_ids(conn, manifest.entries)
        titles = [
            entries_by_id[each].title or entries_by_id[each].url
            for each in manifest.entries
            if each in entries_by_id
        ]
        name = titles[0] if len(titles) == 1 and not manifest.selected.title else title
        yield single_page.opening(name, titles).encode("utf-8", "replace")
        number = 0
        async for chapter in self._chapters(manifest, report):
            number += 1
            article = await asyncio.to_thread(single_page.article, chapter, number)
            yield article.encode("utf-8", "replace")
        yield single_page.CLOSING.encode()

    async def epub(
        self, manifest: Manifest, report: Report, *, title: str
    ) -> AsyncGenerator[bytes, None]:
        """Yield an EPUB, which is written to a temporary file first.

        Entries with neither an article nor a note are left out.

        Raises:
            NotFound: no entry has an article or a note.
        """
        async with AsyncExitStack() as stack:
            file = stack.enter_context(await asyncio.to_thread(scratch_file))
            book: Epub | None = None
            chapters = 0
            async for chapter in self._chapters(manifest, report):
                if not (chapter.html or chapter.note):
                    continue
                if book is None:
                    alone = manifest.selected.hash_url is not None
                    book = Epub(
                        file,
                        title=chapter.title if alone and not manifest.selected.title else title,
                        identifier=chapter.url if alone else f"urn:archiver:{title}",
                        modified=datetime.now(UTC),
                    )
                await asyncio.to_thread(book.add, chapter)
                chapters += 1
            if book is None:
                raise NotFound("There is nothing to export: no articles or notes were found.")
            report.entries = chapters
            await asyncio.to_thread(book.close)
            await asyncio.to_thread(file.seek, 0)
            while data := await asyncio.to_thread(file.read, PIECE):
                yield data

    async def _chapters(self, manifest: Manifest, report: Report) -> AsyncIterator[Chapter]:
        bytes_left = MAX_BYTES
        async for entry, snapshot in self._shown.each(manifest, report):
            if snapshot is None:
                yield chapter_of(entry, None, "")
                continue
            html = await asyncio.to_thread(without_highlighting, snapshot.article)
            pictures = await self._pictures.of(html, snapshot.snapshot.timestamp, most=bytes_left)
            bytes_left -= sum(len(each.data) for each in pictures.values())
            yield replace(chapter_of(entry, snapshot.snapshot, html), pictures=pictures)


def chapter_of(entry: Entry, snapshot: Snapshot | None, html: str) -> Chapter:
    """Return an entry as a chapter without images.

    Without a snapshot, the chapter contains only user metadata.
    """
    title, note = entry.title or entry.url, entry.annotation.note
    if snapshot is None:
        return Chapter(title, entry.url, None, "", note=note)
    return Chapter(
        title,
        entry.url,
        snapshot.timestamp,
        html,
        byline=snapshot.byline,
        site=snapshot.site,
        published=snapshot.published,
        language=snapshot.language,
        note=note,
    )


MAX_LINKS = 2_000
"""Maximum number of links of an article that are looked up in the archive."""
BETWEEN = "\n---\n\n"
_MODE = 0o644
_SUFFIXES = PICTURES | {"image/avif": "avif", "image/bmp": "bmp", "image/x-icon": "ico"}


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a Markdown export: its path and content.

    For each entry, its images come before its text (``index.md``).
    """

    path: str
    data: bytes


class MarkdownTree:
    """Exports of entries as Markdown; the row ids in a manifest are sorted."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._shown = ExportedEntries(db, store)
        self._pictures = ArticlePictures(db, store)

    async def members(self, manifest: Manifest, report: Report) -> AsyncGenerator[Member, None]:
        """Yield all files, entry by entry."""
        async for entry, snapshot in self._shown.each(manifest, report):
            for member in await self._members(entry, snapshot, manifest.entries):
                yield member

    async def zip(self, manifest: Manifest, report: Report) -> AsyncGenerator[bytes, None]:
        """Yield all files as a zip file."""
        sink = Sink()
        packed = zipfile.ZipFile(cast("IO[bytes]", sink), "w", zipfile.ZIP_DEFLATED)
        async with aclosing(self.members(manifest, report)) as members:
            async for each in members:
                info = zipfile.ZipInfo(each.path)
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, _MODE << 16
                await asyncio.to_thread(packed.writestr, info, each.data)
                yield sink.take()
        packed.close()
        yield sink.take()

    async def text(self, manifest: Manifest, report: Report) -> AsyncGenerator[bytes, None]:
        """Yield all entries as one text; images and links point to the web."""
        written = 0
        async for entry, snapshot in self._shown.each(manifest, report):
            number = 0 if len(manifest.entries) == 1 else written + 1
            markdown = await asyncio.to_thread(_as_text, entry, snapshot, number)
            yield f"{BETWEEN if written else ''}{markdown}".encode("utf-8", "replace")
            written += 1

    async def write(
        self, manifest: Manifest, report: Report, directory: Path
    ) -> AsyncIterator[None]:
        """Write all files to a directory; yield after each entry."""
        async for each in self.members(manifest, report):
            await asyncio.to_thread(_replace, directory / each.path, each.data)
            if each.path.endswith("/index.md"):
                yield

    async def _members(
        self, entry: Entry, snapshot: SnapshotDetail | None, rows: Sequence[int]
    ) -> list[Member]:
        if snapshot is None:
            return [_text(entry, None, "")]
        html = without_title(
            await asyncio.to_thread(without_highlighting, snapshot.article), entry.title
        )
        pictures = await self._pictures.of(html, snapshot.snapshot.timestamp)
        archived_links = await self._archived_links(html, rows)
        return await asyncio.to_thread(
            _with_images, entry, snapshot.snapshot, html, pictures, archived_links
        )

    async def _archived_links(self, html: str, rows: Sequence[int]) -> dict[str, HashUrl]:
        """Return the entries of this tree that an article links to, by URL."""
        named = hash_urls_of(await asyncio.to_thread(links_of, html, MAX_LINKS))
        async with self._db.read() as conn:
            archived = await entries.rows_of(conn, [*{*named.values()}])
        local_keys = {key for key, row in archived.items() if _is_among(rows, row)}
        return {url: key for url, key in named.items() if key in local_keys}


def _with_images(
    entry: Entry,
    snapshot: Snapshot,
    html: str,
    pictures: Mapping[str, Picture],
    archived_links: Mapping[str, HashUrl],
) -> list[Member]:
    """Return the text of an entry, preceded by its images."""
    names: dict[str, str] = {}
    members = []
    for number, (url, picture) in enumerate(pictures.items(), 1):
        names[url] = f"pictures/{number:03}.{_SUFFIXES[picture.media_type]}"
        members.append(Member(f"{entry.hash_url}/{names[url]}", picture.data))

    def lead(address: str) -> str:
        url, mark, fragment = address.partition("#")
        if url in archived_links:
            return f"../{archived_links[url]}/index.md{mark}{fragment}"
        return "" if address.startswith("#") else address

    placed = with_pictures(html, lambda urls: next((names[u] for u in urls if u in names), ""))
    return [*members, _text(entry, snapshot, to_markdown(placed, lead))]


def _as_text(entry: Entry, shown: SnapshotDetail | None, number: int) -> str:
    """Return an entry as Markdown with a heading.

    If it is the only entry of the export, its metadata are front matter, otherwise text.

    Args:
        entry: the entry.
        shown: its snapshot; None if it has none.
        number: position among several entries, which keeps footnote labels unique; 0 if it is the
            only entry.
    """
    html = without_title(without_highlighting(shown.article), entry.title) if shown else ""
    placed = with_pictures(html, lambda urls: next(iter(urls), ""))
    labelled = f"{number}-" if number else ""
    article = to_markdown(placed, _external_target, labelled=labelled)
    snapshot = shown.snapshot if shown else None
    chapter = chapter_of(entry, snapshot, "")
    intro = f"<p>{about(chapter)}</p>" if number else ""
    if chapter.note and number:
        intro += f"<blockquote>{escape(chapter.note)}</blockquote>"
    above = to_markdown(f"<h1>{escape(chapter.title)}</h1>{intro}")
    body = "\n".join(filter(None, (above, article, _highlights(entry))))
    return body if number else entry_markdown(entry, snapshot, body)


def _external_target(target: str) -> str:
    """Return the target of a link; empty if it is within the same page."""
    return "" if target.startswith("#") else target


def _highlights(entry: Entry) -> str:
    """Return the highlights of an entry under a heading."""
    marked = entry.annotation.highlights
    return "## Highlights\n\n" + "\n".join(quotations(marked)) + "\n" if marked else ""


def _text(entry: Entry, snapshot: Snapshot | None, article: str) -> Member:
    quoted = _highlights(entry)
    text = entry_markdown(entry, snapshot, f"{article}\n{quoted}" if quoted else article)
    return Member(f"{entry.hash_url}/index.md", text.encode("utf-8", "replace"))


def _is_among(rows: Sequence[int], row: int) -> bool:
    place = bisect_left(rows, row)
    return place < len(rows) and rows[place] == row


def _replace(path: Path, data: bytes) -> None:
    """Replace a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f"{path.suffix}.part")
    unfinished.write_bytes(data)
    unfinished.replace(path)
