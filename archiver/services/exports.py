"""Exports in every format."""

import asyncio
import fcntl
import os
from array import array
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from archiver.db import entries as db_entries
from archiver.db import tags_and_lists
from archiver.db.engine import Database
from archiver.errors import InputError, NotFound
from archiver.formats.entry_markdown import entry_markdown
from archiver.formats.feeds import ATOM
from archiver.formats.list_writer import Heading, ListForm
from archiver.formats.netscape import BOOKMARKS_HTML
from archiver.formats.outlines import OPML_HOSTS
from archiver.formats.own_csv import CSV
from archiver.formats.own_json import JSON, JSON_LINES, schema_text
from archiver.logs import get_log
from archiver.model.entry_list import EntryList, with_parents
from archiver.model.message import marked
from archiver.pages.syntax_highlighting import plain
from archiver.replay.response_headers import safe_name
from archiver.services.book_exports import Books, MarkdownTree
from archiver.services.entries import Entries
from archiver.services.export_selection import Selected, draw_up
from archiver.services.list_exports import write_list
from archiver.services.warc_export import OnDamage, Packages
from archiver.warc.segments import SegmentStore


@dataclass(frozen=True, slots=True)
class ExportKind:
    """An export format.

    Attributes:
        key: name on the command line.
        name: readable name.
        suffix: of files, without the dot; also selects the format in URLs.
        media_type: of files.
        holds: contents and compatible programs.
        form: how a list is written; None if it contains pages instead of a list.
        most: maximum number of entries; 0 for no limit.
    """

    key: str
    name: str
    suffix: str
    media_type: str
    holds: str
    form: ListForm | None = None
    most: int = 0


EXPORTS: tuple[ExportKind, ...] = (
    ExportKind(
        "bookmarks",
        marked("Bookmarks (HTML)"),
        "bookmarks.html",
        "text/html; charset=utf-8",
        marked(
            "links with folders, titles, tags, notes, dates and to-read marks, for browsers, "
            "linkding, Pinboard, Raindrop and most other services"
        ),
        BOOKMARKS_HTML,
    ),
    ExportKind(
        "json",
        "JSON",
        "json",
        "application/json",
        marked(
            "all metadata of each entry, including tags, notes and highlights; can be imported "
            "again and has a schema"
        ),
        JSON,
    ),
    ExportKind(
        "jsonl",
        marked("JSON lines"),
        "jsonl",
        "application/jsonl",
        marked("the same data as JSON, one entry per line, for programs that process large files"),
        JSON_LINES,
    ),
    ExportKind(
        "csv",
        "CSV",
        "csv",
        "text/csv; charset=utf-8",
        marked("all metadata as a table for spreadsheets, without formulas; can be imported again"),
        CSV,
    ),
    ExportKind(
        "atom",
        "Atom",
        "atom",
        "application/atom+xml",
        marked("links with titles, tags, notes and dates, for feed readers"),
        ATOM,
    ),
    ExportKind(
        "opml",
        "OPML",
        "opml",
        "text/x-opml; charset=utf-8",
        marked("each site once, as a list of subscriptions for feed readers"),
        OPML_HOSTS,
    ),
    ExportKind(
        "markdown",
        "Markdown",
        "markdown.zip",
        "application/zip",
        marked(
            "one folder per entry with its article, images and metadata, linked to each other; "
            "opens in Obsidian"
        ),
    ),
    ExportKind(
        "md",
        marked("Markdown (one file)"),
        "md",
        "text/markdown; charset=utf-8",
        marked(
            "all articles in one text file, with footnotes and formulas; images and links point "
            "to the web"
        ),
    ),
    ExportKind(
        "epub",
        "EPUB",
        "epub",
        "application/epub+zip",
        marked("articles with their images as a book"),
        most=2_000,
    ),
    ExportKind(
        "html",
        marked("One page (HTML)"),
        "html",
        "text/html; charset=utf-8",
        marked("articles with their images as one self-contained page"),
        most=2_000,
    ),
    ExportKind(
        "warc",
        "WARC",
        "warc.gz",
        "application/warc",
        marked(
            "complete snapshots with your metadata, for pywb and other web archives; can be "
            "imported again (saved searches and empty lists are only in JSON exports)"
        ),
    ),
    ExportKind(
        "wacz",
        "WACZ",
        "wacz",
        "application/wacz+zip",
        marked("complete snapshots in one indexed file, for ReplayWeb.page"),
    ),
)
"""In display order."""
BY_KEY = {each.key: each for each in EXPORTS}
BY_SUFFIX = {each.suffix: each for each in EXPORTS}


def schema() -> str:
    """Return the JSON Schema of JSON exports."""
    return schema_text()


TITLE = "From the archive"
ARTICLES = frozenset({"epub", "html", "markdown", "md"})
"""Keys of formats that contain articles."""

MAX_BOOK_TITLE = 200
"""Maximum number of characters of a title that a user chose."""
MAX_TITLE = 80
"""Maximum number of characters of a title in a file name."""

PART = ".part"
"""Suffix of a file that is still being written."""

OnProgress = Callable[[int], None]
"""Called with the number of bytes written so far."""

log = get_log(__name__)

_OnCount = Callable[[int], None]
"""Called with the number of entries in an export."""


@dataclass(frozen=True, slots=True)
class WrittenExport:
    """A complete export file.

    Attributes:
        size: bytes.
        entries: number of entries in it.
        damaged: places and problems of the records that a WARC or WACZ file leaves out.
    """

    size: int
    entries: int
    damaged: tuple[str, ...] = ()


class EntryExports:
    """Exports of entries."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._entries = Entries(db, store)
        self._tree = MarkdownTree(db, store)
        self._packages = Packages(db, store)
        self._books = Books(db, store)

    async def name_of(self, kind: ExportKind, wanted: Selected) -> str:
        """Return a file name; an export of one article is named after it."""
        if wanted.hash_url is None:
            return f"archive-{datetime.now(UTC):%Y%m%d}.{kind.suffix}"
        if kind.key not in ARTICLES:
            return f"{wanted.hash_url}.{kind.suffix}"
        async with self._db.read() as conn:
            found = await db_entries.by_hash(conn, wanted.hash_url)
        title = (found[1].title or found[1].url) if found else wanted.hash_url
        return f"{safe_name(title[:MAX_TITLE])}.{kind.suffix}"

    async def begin(
        self,
        kind: ExportKind,
        wanted: Selected,
        *,
        name: str,
        at: str | None = None,
        on_count: _OnCount = lambda _: None,
        on_damage: OnDamage = lambda _: None,
    ) -> AsyncGenerator[bytes, None]:
        """Select the entries of an export now; return a generator of its bytes.

        The generator raises if something cannot be read; the output so far is then incomplete.

        Args:
            kind: format of the export.
            wanted: entries to export.
            name: of the file; included in some formats.
            at: timestamp of the snapshot, for the article of one entry; None for the newest.
            on_count: called with the number of entries.
            on_damage: called for each damaged part that a WARC or WACZ file leaves out.

        Raises:
            NotFound: there is nothing to export.
            InputError: too many entries for one file, or an invalid query.
        """
        if kind.form:
            rows = await self._rows(wanted)
            on_count(len(rows))
            return write_list(self._db, rows, kind.form, await self._heading(wanted))
        if kind.key in ("markdown", "md"):
            rows = array("q", sorted(await self._rows(wanted)))
            on_count(len(rows))
            write = self._tree.zip if kind.key == "markdown" else self._tree.text
            return write(rows, at if wanted.hash_url else None)
        if kind.key in ("epub", "html"):
            articles = await self._books.begin(wanted)
            on_count(len(articles.entries))
            book = self._books.epub if kind.key == "epub" else self._books.html
            return book(articles, title=title_of(wanted), at=at if wanted.hash_url else None)
        manifest = await self._packages.begin(wanted)
        on_count(len(manifest.entries))

        def note(damage: str) -> None:
            log.warning("a damaged record is not exported", place=damage)
            on_damage(damage)

        if kind.key == "wacz":
            title = name.removesuffix(".wacz")
            return self._packages.wacz(manifest, title=title, on_damage=note)
        return self._packages.warc(manifest, name=name, on_damage=note)

    async def write(
        self,
        kind: ExportKind,
        wanted: Selected,
        path: Path,
        on_progress: OnProgress = lambda _: None,
    ) -> WrittenExport:
        """Write an export to a file, replacing one of that name.

        The bytes go to `FILE.part`, which is renamed once all of them are on disk. If anything
        fails, or the task is cancelled, `FILE.part` is removed and `FILE` is as it was.

        Raises:
            NotFound: there is nothing to export.
            InputError: too many entries, an invalid query, or another process writes that file.
            StoreError: something cannot be read.
        """
        part = path.with_name(path.name + PART)
        size, counts, damaged = 0, [0], list[str]()
        with _open_part(part, path) as file:  # in a thread, a cancelled task would leave it open
            try:
                pieces = await self.begin(
                    kind,
                    wanted,
                    name=path.name,
                    on_count=counts.append,
                    on_damage=damaged.append,
                )
                async with aclosing(pieces):
                    async for piece in pieces:
                        await asyncio.to_thread(file.write, piece)
                        size += len(piece)
                        on_progress(size)
                await asyncio.to_thread(_finish, file, part, path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        return WrittenExport(size, counts[-1], tuple(damaged))

    async def write_tree(
        self, wanted: Selected, directory: Path, on_progress: Callable[[int, int], None]
    ) -> int:
        """Write a folder for each entry as Markdown; return the number of entries.

        Args:
            wanted: entries to export.
            directory: files in it are replaced one by one.
            on_progress: called with the number of entries written, and of all.
        """
        rows, written = array("q", sorted(await self._rows(wanted))), 0
        await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
        async for _ in self._tree.write(rows, directory):
            written += 1
            on_progress(written, len(rows))
        return written

    async def index_md(self, ref: str, timestamp: str | None = None) -> str:
        """Return an entry as Markdown: front matter, then its article as clean HTML.

        Raises:
            NotFound: there is no such entry.
            InvalidUrl: `ref` is neither a hash_url nor a URL.
        """
        try:
            detail = await self._entries.snapshot(ref, timestamp)
        except NotFound:
            found = await self._entries.get(ref)
            return entry_markdown(found.entry, None, "")
        return entry_markdown(detail.entry, detail.snapshot, plain(detail.article))

    async def _rows(self, wanted: Selected) -> "array[int]":
        """Return the row ids of the entries; an empty archive is exported as an empty list."""
        rows = (await draw_up(self._db, wanted)).entries
        if not rows and not wanted.is_everything:
            raise NotFound("Nothing to export: no entry matches.")
        return rows

    async def _heading(self, wanted: Selected) -> Heading:
        kept: list[EntryList] = []
        if wanted.is_everything:
            async with self._db.read() as conn:
                kept = with_parents(await tags_and_lists.all_lists(conn))
        return Heading(title_of(wanted), datetime.now(UTC), tuple(kept))


def title_of(wanted: Selected) -> str:
    """Return the title of an export."""
    return " ".join(wanted.title[:MAX_BOOK_TITLE].split()) or wanted.query.q or TITLE


def _open_part(part: Path, path: Path) -> IO[bytes]:
    """Open and lock `part`, so that two processes never write one file."""
    try:
        file = part.open("ab")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    if not _lock(file, part):
        file.close()
        raise InputError(
            "{name} is being written by another process. Choose another name.", name=path.name
        )
    file.truncate(0)
    return file


def _lock(file: IO[bytes], path: Path) -> bool:
    """Lock a file; return whether it was free and still has its name."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _finish(file: IO[bytes], part: Path, path: Path) -> None:
    file.flush()
    os.fsync(file.fileno())
    part.replace(path)
