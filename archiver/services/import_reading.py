"""Reading the file of an import: formats, options and status."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from io import BufferedReader
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from archiver.crawl.crash_recovery import settle_interrupted
from archiver.db import import_reports, imports, new_entries, tags_and_lists
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import ArchiverError, InputError, InvalidQuery, NotFound, UnreadableFile
from archiver.formats.archive_files import WACZ, archive_kind
from archiver.formats.detection import IMPORTERS
from archiver.formats.import_process import Batch, FileSeed, LinkFile, open_links
from archiver.formats.own_json import was_saved_as_link
from archiver.formats.seeds import tidy_folder
from archiver.helpers import scratch_file
from archiver.http.text_decoders import well_formed
from archiver.logs import get_log
from archiver.model.entry_list import EntryList, ListsInFile, folder_names
from archiver.model.imports import (
    MAX_SUBMITTED,
    UNEXPECTED,
    CaptureWhen,
    Choices,
    ColumnRole,
    FoldersAs,
    ImportStatus,
    Outcome,
    RecordCounts,
    Rejected,
    ReportRow,
    ToRead,
)
from archiver.model.listing import NOTES
from archiver.model.message import marked
from archiver.model.seed import SavedPage, SaveOutcome
from archiver.search.query_parser import parse_query
from archiver.services.entries import clean_tags
from archiver.warc.segments import SegmentStore

if TYPE_CHECKING:
    from archiver.services.archive_imports import Archives

MAX_FOLDERS = 1_000
MAX_COLUMNS = 500
MAX_INTO = 16
"""Maximum depth of the list path for an import."""
_MAX_PATH = 5_000
_Kind = TypeVar("_Kind", bound=StrEnum)


def typed_choices(
    *,
    tags: Sequence[str] = (),
    words: Mapping[str, str],
    only_folders: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> Choices:
    """Build import options from user-supplied texts.

    Args:
        tags: tags for all links.
        words: values of ``folders_as``, ``to_read``, ``capture`` and ``into``; missing options get
            their defaults.
        only_folders: paths of the folders to import.
        columns: roles of columns, each as ``role=name of the column``.

    Raises:
        InputError: a value is invalid.
    """
    return Choices(
        tags=clean_tags(tags),
        folders_as=_choice_of(FoldersAs, words.get("folders_as"), FoldersAs.LISTS, "folders_as"),
        to_read=_choice_of(ToRead, words.get("to_read"), ToRead.AS_IN_FILE, "to_read"),
        capture=_choice_of(CaptureWhen, words.get("capture"), CaptureWhen.NOW, "capture"),
        only_folders=_paths(only_folders),
        into=_into(words.get("into", "")),
        columns=_columns(columns),
    )


def _choice_of(kind: type[_Kind], word: str | None, otherwise: _Kind, about: str) -> _Kind:
    try:
        return kind(word) if word else otherwise
    except ValueError:
        raise InputError(
            "{name} must be one of {known}.", name=about, known=", ".join(kind)
        ) from None


def _paths(paths: Sequence[str]) -> tuple[str, ...]:
    if len(paths) > MAX_FOLDERS:
        raise InputError("You can choose at most {most} folders.", most=MAX_FOLDERS)
    return tuple(dict.fromkeys(filter(None, map(_path, paths))))


def _path(path: str) -> str:
    """Normalise a folder path."""
    return tidy_folder(path[:_MAX_PATH])


def _into(list_path: str) -> str:
    """Return the normalised path of the list for an import.

    The path must be short, because the folders of the file are nested below it.
    """
    path = _path(list_path)
    if len(list_path) > _MAX_PATH or len(folder_names(list_path)) > MAX_INTO:
        raise InputError("Lists can be nested at most {most} levels deep.", most=MAX_INTO - 1)
    return path


def _columns(roles: Sequence[str]) -> dict[str, ColumnRole] | None:
    if len(roles) > MAX_COLUMNS:
        raise InputError("You can name at most {most} columns.", most=MAX_COLUMNS)
    columns = {}
    for each in roles:
        role, equals, name = each.partition("=")
        if not equals:
            raise InputError("Name a column in the form url={each}.", each=each[:100])
        columns[well_formed(name)] = _choice_of(ColumnRole, role, ColumnRole.KEEP, "A column says")
    return columns or None


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A supported file format.

    Attributes:
        name: name of the format.
        origin: which programs export the format, and by which menu item; empty if obvious.
        suffixes: suffixes of file names, without the dot.
    """

    name: str
    origin: str
    suffixes: tuple[str, ...]


_ARCHIVES = (
    KnownFormat("WARC", marked("captures from another archive"), ("warc", "gz", "zst")),
    KnownFormat("ARC", marked("captures from another archive, in the older ARC format"), ("arc",)),
    KnownFormat(
        "WACZ", marked("captures from another archive, packed with their index"), ("wacz",)
    ),
)
KNOWN_FORMATS: tuple[KnownFormat, ...] = (
    *(KnownFormat(each.name, each.origin, each.suffixes) for each in IMPORTERS),
    *_ARCHIVES,
)
"""Formats with links, then formats with captures."""


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all formats with their dots, without duplicates."""
    return tuple(dict.fromkeys(f".{suffix}" for each in KNOWN_FORMATS for suffix in each.suffixes))


_LAST_NUMBER = (1 << 63) - 1


class ImportStatuses:
    """Reader of import statuses; the lock of ``store`` shows which processes are alive."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._lock = store.lock

    async def find(self, number: int) -> ImportStatus:
        """Return the status of an import.

        Raises:
            NotFound: the import does not exist.
        """
        status = await self._find(number)
        if status.reading:
            await settle_interrupted(self._db, self._lock)
            status = await self._find(number)
        return status

    async def recent(self, limit: int = 20) -> list[ImportStatus]:
        """Return the newest imports, newest first."""
        await settle_interrupted(self._db, self._lock)
        async with self._db.read() as conn:
            return await imports.recent(conn, limit)

    async def is_any_left(self) -> bool:
        """Return whether there is a stored file that no process reads."""
        await settle_interrupted(self._db, self._lock)
        async with self._db.read() as conn:
            return await imports.is_any_unclaimed(conn)

    async def _find(self, number: int) -> ImportStatus:
        status = None
        if number <= _LAST_NUMBER:
            async with self._db.read() as conn:
                status = await imports.status(conn, number)
        if status is None:
            raise NotFound("Import {number} not found.", number=str(number))
        return status


PROGRESS_SECONDS = 0.2

OnProgress = Callable[[ImportStatus], None]
OpenArchives = Callable[[], "Archives"]
"""Function that returns the importer of archive files; called only when a file needs it."""

log = get_log(__name__)


class ImportReader:
    """Reader of import files; progress is stored in the index."""

    def __init__(
        self,
        db: Database,
        archives: "OpenArchives",
        statuses: ImportStatuses,
        *,
        memory_bytes: int,
        on_queued: Callable[[], None],
    ) -> None:
        self.open_links = partial(open_links, memory_bytes=memory_bytes)
        self._db = db
        self._open_archives = archives
        self._statuses = statuses
        self._on_queued = on_queued

    async def read_links(
        self, number: int, first: Batch, links: LinkFile, on_progress: OnProgress
    ) -> None:
        """Add the links of a file, each batch in a short transaction.

        The child process parses the next batches in the meantime.
        """
        batch, reported = first, 0.0
        while batch:
            early = await self._take_in_pages(number, batch, links) if batch.pages else {}
            async with self._db.write() as conn:
                await _add_batch(conn, number, batch, links.choices, early)
            self._on_queued()
            if monotonic() - reported > PROGRESS_SECONDS:
                on_progress(await self._statuses.find(number))
                reported = monotonic()
            batch = await links.next_batch()
        async with self._db.write() as conn:
            await imports.finish(conn, number)

    async def read_captures(
        self,
        number: int,
        source: BinaryIO,
        name: str,
        kind: str,
        on_progress: OnProgress,
        *,
        uploaded_at: datetime | None = None,
    ) -> None:
        """Import an archive file; an interrupted import reads the file again from the start."""
        async with self._db.write() as conn:
            before = await imports.restart_import(conn, number)
        error = ""
        async with AsyncExitStack() as stack:
            file = source
            if kind == WACZ and not source.seekable():
                file = await asyncio.to_thread(_spooled, source)
                stack.callback(file.close)
            try:
                taking = self._open_archives().read_file(
                    file, name, kind, import_id=number, uploaded_at=uploaded_at
                )
                async with aclosing(taking) as batches:
                    async for each in batches:
                        before = await self._count(number, each, before)
                        on_progress(await self._statuses.find(number))
            except UnreadableFile as unreadable:
                error = str(unreadable)
            except (ArchiverError, OSError):
                raise  # temporary, can be retried
            except Exception as unexpected:
                # Any failure of a parser on untrusted input must end only this import.
                log.exception("import failed", name=name)
                error = UNEXPECTED.format(name=name, kind=type(unexpected).__name__)
        async with self._db.write() as conn:
            await imports.finish(conn, number, error=error)
        self._on_queued()

    async def _count(self, number: int, counts: RecordCounts, before: int) -> int:
        """Store the counts of a batch; return ``before`` for the next batch.

        ``before`` is the number of captures that an interrupted run imported, and that this run has
        not read again yet. The file is read in the same order, so the first captures that the
        archive already has are those of the interrupted run; they count as new.
        """
        ours = min(counts.known, before)
        corrected = replace(counts, fresh=counts.fresh + ours, known=counts.known - ours)
        async with self._db.write() as conn:
            await imports.advance_archive(conn, number, corrected)
        return before - ours

    async def _take_in_pages(
        self, number: int, batch: Batch, links: LinkFile
    ) -> dict[str, SaveOutcome]:
        """Queue the links that have pages, then store the pages; return the results by hash_url.

        The batch is counted afterwards. If the process is killed before that, the next run repeats
        the batch and finds the stored pages.
        """
        seeds = [batch.seeds[each.place].seed for each in batch.pages]
        async with self._db.write() as conn:
            received = await new_entries.receive(
                conn, seeds, now=datetime.now(UTC), recapture=False, import_id=number
            )
        pages = [
            SavedPage(seed, each.page, each.is_dated)
            for seed, each in zip(seeds, batch.pages, strict=True)
        ]
        origin = f"{links.name} ({links.form})"
        await self._open_archives().import_pages(pages, origin, import_id=number)
        return {each.hash_url: each.outcome for each in reversed(received)}


async def _add_batch(
    conn: AsyncConnection,
    number: int,
    batch: Batch,
    choices: Choices,
    early: dict[str, SaveOutcome],
) -> None:
    """Add the links of a batch, count them, and write the rows of the report.

    Links with a page are queued before; `early` has their results by hash_url.
    """
    lists_left_out = await _add_lists(conn, number, batch.lists)
    rows: list[ReportRow] = []
    links = 0
    for capture, seeds in by_capture(batch.seeds, choices).items():
        received = await new_entries.receive(
            conn,
            [each.seed for each in seeds],
            now=datetime.now(UTC),
            recapture=False,
            import_id=number,
            capture=capture,
        )
        if capture is CaptureWhen.NEVER:
            links = sum(each.outcome is SaveOutcome.ADDED for each in received)
        rows += [
            _report_row(each, early.pop(each.seed.hash_url, one.outcome))
            for each, one in zip(seeds, received, strict=True)
        ]
    outcomes: Counter[str] = Counter(each.outcome for each in rows)
    rows += map(_report_row_of_rejected, batch.rejected)
    await import_reports.add_rows(conn, number, rows)
    await imports.advance(
        conn, number, outcomes, batch.rejected, links=links, lists_left_out=lists_left_out
    )


def _report_row(each: FileSeed, outcome: SaveOutcome) -> ReportRow:
    submitted = each.seed.annotation.url_given[:MAX_SUBMITTED]
    # SaveOutcome and Outcome members have the same values.
    return ReportRow(each.row, Outcome(outcome), submitted, each.seed.hash_url, "")


def _report_row_of_rejected(each: Rejected) -> ReportRow:
    outcome = Outcome.LEFT_OUT if each.is_left_out else Outcome.UNUSABLE
    return ReportRow(each.row, outcome, each.given, None, each.reason)


def by_capture(seeds: Sequence[FileSeed], choices: Choices) -> dict[CaptureWhen, list[FileSeed]]:
    """Group seeds by when they are captured: as the options say, or never.

    Notes without an address, and entries that an archiver export marks as links, are never
    captured.
    """
    groups: dict[CaptureWhen, list[FileSeed]] = {}
    for each in seeds:
        is_link = was_saved_as_link(each.seed.annotation.source_record)
        is_link = is_link or each.seed.host.endswith(NOTES)
        groups.setdefault(CaptureWhen.NEVER if is_link else choices.capture, []).append(each)
    return groups


async def _add_lists(conn: AsyncConnection, number: int, lists: ListsInFile) -> int:
    """Add the lists of a file; return the number of those left out."""
    usable = usable_lists(lists)
    return await tags_and_lists.add(conn, usable.found, import_id=number) + usable.left_out


def kind_of_file(source: BinaryIO, name: str) -> str | None:
    """Return the kind of an archive file; None for other files. Blocking.

    The position of ``source`` is unchanged.
    """
    return archive_kind(source, name) if isinstance(source, BufferedReader) else None


def usable_lists(lists: ListsInFile) -> ListsInFile:
    """Leave out saved searches that cannot be parsed, and count them in ``left_out``."""
    usable = tuple(each for each in lists.found if _is_usable(each))
    return ListsInFile(usable, lists.left_out + len(lists.found) - len(usable))


def _is_usable(entry_list: EntryList) -> bool:
    try:
        parse_query(entry_list.query)
    except InvalidQuery:
        return False
    return True


def _spooled(source: BinaryIO) -> BinaryIO:
    """Copy a pipe to a seekable file, because a zip file has its directory at the end."""
    # The caller closes it.
    spooled = scratch_file()
    shutil.copyfileobj(source, spooled, 1 << 20)
    spooled.seek(0)
    return spooled
