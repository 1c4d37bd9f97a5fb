"""Exports in every format of ``model/export_kinds``, and feeds of lists."""

import asyncio
import fcntl
import os
from array import array
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import IO

from archiver.db import entries as db_entries
from archiver.db import snapshots, tags_and_lists
from archiver.db.engine import Database
from archiver.errors import InputError, NotFound
from archiver.formats.entry_markdown import entry_markdown
from archiver.formats.feeds import ATOM, Feed, write_atom, write_json_feed
from archiver.formats.list_writer import Heading, ListForm, ListWriter, Order
from archiver.formats.netscape import BOOKMARKS_HTML
from archiver.formats.outlines import OPML_HOSTS
from archiver.formats.own_csv import CSV
from archiver.formats.own_json import JSON, JSON_LINES, schema_text
from archiver.model.entry import ExportedEntry
from archiver.model.entry_list import EntryList, folder_names, with_parents
from archiver.model.export_kinds import ExportKind
from archiver.model.listing import ListingQuery, Sort
from archiver.pages.syntax_highlighting import without_highlighting
from archiver.replay.response_headers import safe_name
from archiver.services.book_exports import Books, MarkdownTree
from archiver.services.entries import Entries
from archiver.services.export_selection import Manifest, Report, Selected, make_manifest
from archiver.services.search import Search
from archiver.services.warc_export import Packages
from archiver.warc.segments import SegmentStore

_LIST_FORMS: dict[str, ListForm] = {
    "bookmarks": BOOKMARKS_HTML,
    "json": JSON,
    "jsonl": JSON_LINES,
    "csv": CSV,
    "atom": ATOM,
    "opml": OPML_HOSTS,
}
"""List formats by the key of their ``ExportKind``."""


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


class EntryExports:
    """Exports of entries."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._entries = Entries(db, store)
        self._tree = MarkdownTree(db, store)
        self._packages = Packages(db, store)
        self._books = Books(db, store)

    async def name_of(self, kind: ExportKind, selected: Selected) -> str:
        """Return the file name for an export.

        The export of a single entry is named after its title if the format contains articles,
        otherwise after its hash_url.
        """
        if selected.hash_url is None:
            return f"archive-{datetime.now(UTC):%Y%m%d}.{kind.suffix}"
        if kind.key not in ARTICLES:
            return f"{selected.hash_url}.{kind.suffix}"
        async with self._db.read() as conn:
            row = await db_entries.by_hash(conn, selected.hash_url)
        title = (row[1].title or row[1].url) if row else selected.hash_url
        return f"{safe_name(title[:MAX_TITLE])}.{kind.suffix}"

    async def begin(
        self,
        kind: ExportKind,
        selected: Selected,
        *,
        name: str,
        report: Report | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """Select the entries of an export now; return a generator of its bytes.

        The generator raises if something cannot be read; the output so far is then incomplete.

        Args:
            kind: format of the export.
            selected: entries to export.
            name: name of the file, which some formats contain.
            report: report that is filled while the bytes are generated.

        Raises:
            NotFound: there is nothing to export.
            InputError: too many entries for one file, or an invalid query.
        """
        report = report or Report()
        if kind.is_list:
            manifest = await make_manifest(self._db, selected, may_be_empty=True)
            rows, form = manifest.entries, _LIST_FORMS[kind.key]
            pieces = _write_list(self._db, rows, form, await self._heading(selected))
        elif kind.key in ("markdown", "md"):
            manifest = await self._sorted(selected)
            write = self._tree.zip if kind.key == "markdown" else self._tree.text
            pieces = write(manifest, report)
        elif kind.key in ("epub", "html"):
            manifest = await self._books.begin(selected)
            write_book = self._books.html if kind.key == "html" else self._books.epub
            pieces = write_book(manifest, report, title=export_title(selected))
        else:
            manifest = await make_manifest(self._db, selected)
            if kind.key == "wacz":
                title = name.removesuffix(".wacz")
                pieces = self._packages.wacz(manifest, title=title, report=report)
            else:
                pieces = self._packages.warc(manifest, name=name, report=report)
        report.entries = len(manifest.entries)
        return pieces

    async def write(
        self,
        kind: ExportKind,
        selected: Selected,
        path: Path,
        on_progress: OnProgress = lambda _: None,
    ) -> Report:
        """Write an export to a file, replacing an existing file.

        The bytes go to `FILE.part`, which is renamed once all of them are on disk. If anything
        fails, or the task is cancelled, `FILE.part` is removed and `FILE` is as it was.

        Raises:
            NotFound: there is nothing to export.
            InputError: too many entries, an invalid query, or another process writes that file.
            StoreError: something cannot be read.
        """
        part, report = path.with_name(path.name + PART), Report()
        # Not opened in a thread: if the task were cancelled, the file would stay open.
        with _open_part(part, path) as file:
            try:
                pieces = await self.begin(kind, selected, name=path.name, report=report)
                async with aclosing(pieces):
                    async for piece in pieces:
                        await asyncio.to_thread(file.write, piece)
                        report.size += len(piece)
                        on_progress(report.size)
                await asyncio.to_thread(_finish, file, part, path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        return report

    async def write_tree(
        self, selected: Selected, directory: Path, on_progress: Callable[[int, int], None]
    ) -> Report:
        """Write a folder for each entry as Markdown.

        Args:
            selected: entries to export.
            directory: target directory; existing files are replaced one by one.
            on_progress: called with the number of entries written and the number of all entries.
        """
        manifest, report = await self._sorted(selected), Report()
        await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
        async for _ in self._tree.write(manifest, report, directory):
            report.entries += 1
            on_progress(report.entries, len(manifest.entries))
        return report

    async def index_md(self, ref: str, timestamp: str | None = None) -> str:
        """Return an entry as Markdown: front matter, then its article as clean HTML.

        Raises:
            NotFound: there is no such entry.
            InvalidUrl: `ref` is neither a hash_url nor a URL.
        """
        try:
            detail = await self._entries.snapshot(ref, timestamp)
        except NotFound:
            entry_detail = await self._entries.get(ref)
            return entry_markdown(entry_detail.entry, None, "")
        return entry_markdown(detail.entry, detail.snapshot, without_highlighting(detail.article))

    async def _sorted(self, selected: Selected) -> Manifest:
        manifest = await make_manifest(self._db, selected, may_be_empty=True)
        return replace(manifest, entries=array("q", sorted(manifest.entries)))

    async def _heading(self, selected: Selected) -> Heading:
        lists: list[EntryList] = []
        if selected.is_everything:
            async with self._db.read() as conn:
                lists = with_parents(await tags_and_lists.all_lists(conn))
        return Heading(export_title(selected), datetime.now(UTC), tuple(lists))


def export_title(selected: Selected) -> str:
    """Return the title of an export."""
    title = " ".join(selected.title[:MAX_BOOK_TITLE].split())
    is_empty = not any(map(str.isprintable, title))  # a book without a title is invalid
    return (selected.query.q or TITLE) if is_empty else title


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
    """Lock a file; return whether the lock was free and ``path`` still refers to the file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _finish(file: IO[bytes], part: Path, path: Path) -> None:
    file.flush()
    os.fsync(file.fileno())
    part.replace(path)


ENTRIES_AT_ONCE = 100
"""Entries written per batch; an entry can have half a megabyte of metadata."""

HOSTS_AT_ONCE = 1000
"""Entries read per batch to find their hosts."""

MAX_SNAPSHOTS = 1_000
"""Maximum number of exported snapshots of one entry; older ones are left out."""

_Placed = tuple[str, int]
"""Place of an entry (its folder or host; see `Order`) and its row id."""


async def _write_list(
    db: Database, rows: Sequence[int], form: ListForm, heading: Heading
) -> AsyncGenerator[bytes, None]:
    """Yield the text of a list; entries deleted in the meantime are left out."""
    writer = form.writer(heading)
    if opening := writer.opening():
        yield _encoded(opening)
    placed = await _ordered(db, rows, form.order)
    while batch := [*islice(placed, ENTRIES_AT_ONCE)]:
        exported = await _exported(db, [row for _, row in batch], form)
        text = await asyncio.to_thread(_items, writer, batch, exported)
        if text:
            yield _encoded(text)
    if closing := writer.closing():
        yield _encoded(closing)


async def _ordered(db: Database, rows: Sequence[int], order: Order) -> Iterator[_Placed]:
    """Return the entries in the order of a format, each with its place."""
    if order is Order.SAVED:
        return (("", row) for row in sorted(rows))
    if order is Order.HOSTS:
        return iter(sorted((await _first_by_host(db, rows)).items()))
    members = await _members(db, rows)
    return ((path, row) for path in sorted(members, key=folder_names) for row in members[path])


async def _first_by_host(db: Database, rows: Sequence[int]) -> dict[str, int]:
    """Return the entry of each host that was saved first."""
    first: dict[str, int] = {}
    in_order = sorted(rows)
    for start in range(0, len(in_order), HOSTS_AT_ONCE):
        async with db.read() as conn:
            by_id = await db_entries.by_ids(conn, in_order[start : start + HOSTS_AT_ONCE])
        for row, each in sorted(by_id.items()):
            first.setdefault(each.host, row)
    return first


async def _members(db: Database, rows: Sequence[int]) -> dict[str, list[int]]:
    """Return the entries of each list in order; those that are in no list have an empty path."""
    selected, members = set(rows), dict[str, list[int]]()
    async with db.read() as conn:
        for each in await tags_and_lists.all_lists(conn):
            in_order = await tags_and_lists.members_in_order(conn, each.path)
            members[each.path] = [row for row, _ in in_order if row in selected]
    return {"": sorted(selected.difference(*members.values())), **members}


async def _exported(db: Database, rows: Sequence[int], form: ListForm) -> dict[int, ExportedEntry]:
    async with db.read() as conn:
        by_id = await db_entries.by_ids(conn, rows)
        visited = [row for row, each in by_id.items() if each.snapshot_count]
        row_ids = visited if form.has_snapshots else []
        rows_by_entry = await snapshots.of_entries(conn, row_ids) if row_ids else {}
    return {
        row: ExportedEntry(
            entry,
            tuple(each.snapshot for each in islice(rows_by_entry.get(row, ()), MAX_SNAPSHOTS)),
        )
        for row, entry in by_id.items()
    }


def _items(writer: ListWriter, batch: Sequence[_Placed], exported: dict[int, ExportedEntry]) -> str:
    return "".join(writer.item(exported[row], place) for place, row in batch if row in exported)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


ITEMS = 50


class FeedForm(StrEnum):
    """Formats of a feed."""

    ATOM = "atom"
    JSON = "json"


async def write_feed(
    search: Search, query: ListingQuery, form: FeedForm, *, origin: str, path: str, home: str
) -> bytes:
    """Return the newest entries of a list as a feed.

    Args:
        search: searches the index.
        query: query of the list; its order and page are ignored.
        form: format of the feed.
        origin: ``http(s)://host[:port]`` of the service.
        path: URL path of the feed.
        home: URL path of the list in the web interface.

    Raises:
        InvalidQuery: the query can't be parsed.
    """
    newest = replace(query, sort=Sort.NEWEST, after="", limit=ITEMS)
    listing = await search.listing(newest)
    parts = (query.q, query.tag, query.host, query.status)
    words = " ".join(each for each in parts if each)
    title = f"archiver: {words}" if words else "archiver"
    feed = Feed(title, origin, path, home, [each.entry for each in listing.items])
    return write_atom(feed) if form is FeedForm.ATOM else write_json_feed(feed)
