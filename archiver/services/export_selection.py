"""Selection of an export's entries, fixed when the export begins.

Entries are ordered by their latest activity, so pagination while pages are saved would skip entries
that move to the front. Therefore the export first reads all row ids in one transaction.
"""

from array import array
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape

from archiver.db import edit_history, segment_rows, snapshots, tombstones
from archiver.db import entries as db_entries
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import NotFound, StoreError, StoreUnavailable
from archiver.logs import get_log
from archiver.model.capture import HashUrl
from archiver.model.entry import Entry
from archiver.model.listing import ListingQuery
from archiver.model.page import UNREAD
from archiver.services.entries import Entries, SnapshotDetail
from archiver.services.search import matching_entries
from archiver.warc.segments import SegmentStore

MANIFEST_PAGE = 5000


@dataclass(frozen=True, slots=True)
class Selected:
    """Selection for an export.

    Attributes:
        query: query of a list of entries; an empty query selects everything.
        hash_url: the only selected entry; None if ``entries`` or ``query`` selects the entries.
        entries: selected entries, in order; empty if ``query`` selects the entries.
        title: title of a book or page, shortened if it is long; empty for the default.
        at: timestamp of the exported snapshot of the entry ``hash_url``; None for the newest.
    """

    query: ListingQuery = field(default_factory=ListingQuery)
    hash_url: HashUrl | None = None
    title: str = ""
    entries: tuple[HashUrl, ...] = ()
    at: str | None = None

    @property
    def is_everything(self) -> bool:
        """Whether everything is selected."""
        is_narrowed = self.hash_url is not None or self.entries
        return not is_narrowed and self.query == ListingQuery()


@dataclass(frozen=True, slots=True)
class Manifest:
    """Fixed contents of an export.

    Attributes:
        selected: the selection.
        entries: row ids of the entries in the order of the list, eight bytes each.
        beyond_records: row ids of entries whose current metadata is in none of the copied records;
            the export writes new records for these entries.
        last_snapshot: row id of the last snapshot; later snapshots are not exported.
        segments: number of indexed bytes of each segment, by name.
        has_whole_segments: whether segments are copied whole, because everything is selected and
            the segments contain no deleted records.
    """

    selected: Selected
    entries: "array[int]"
    beyond_records: "array[int]"
    last_snapshot: int
    segments: Mapping[str, int]
    has_whole_segments: bool


async def make_manifest(
    db: Database, selected: Selected, *, may_be_empty: bool = False
) -> Manifest:
    """Create the manifest of a selection.

    With ``may_be_empty``, everything may be selected in an empty archive.

    Raises:
        NotFound: there is nothing to export.
        InputError: the query is invalid.
    """
    rows, beyond_records = array("q"), array("q")
    async with db.read() as conn:
        whole = selected.is_everything and await tombstones.is_erased(conn)
        async for batch in _entries(conn, selected):
            rows.extend(batch)
            left_out = await edit_history.not_in_snapshot_records(conn, batch, whole_segments=whole)
            beyond_records.extend(left_out)
        if not rows and not (may_be_empty and selected.is_everything):
            raise NotFound("There is nothing to export: no entries match.")
        return Manifest(
            selected=selected,
            entries=rows,
            beyond_records=beyond_records,
            last_snapshot=await snapshots.last_row(conn),
            segments=await segment_rows.indexed_sizes(conn),
            has_whole_segments=whole,
        )


async def _entries(conn: AsyncConnection, selected: Selected) -> AsyncIterator[list[int]]:
    if selected.hash_url:
        if row := await db_entries.by_hash(conn, selected.hash_url):
            yield [row[0]]
        return
    if selected.entries:
        ids = await db_entries.rows_of(conn, selected.entries)
        yield [ids[each] for each in dict.fromkeys(selected.entries) if each in ids]
        return
    async for batch in matching_entries(conn, selected.query, limit=MANIFEST_PAGE):
        yield batch


log = get_log(__name__)


@dataclass(slots=True)
class Report:
    """Result of an export, complete after its last byte.

    Attributes:
        size: bytes in the written file.
        entries: number of exported entries; an EPUB has only those with an article or a note.
        damaged: places and problems of the damaged parts that are left out.
    """

    size: int = 0
    entries: int = 0
    damaged: list[str] = field(default_factory=list)

    def leave_out(self, damage: str) -> None:
        """Add a damaged part."""
        log.warning("a damaged record is not exported", place=damage)
        self.damaged.append(damage)


_DAMAGED = (
    "The record of the article is damaged. `archiver serve` or `archiver extract` extracts it "
    "again from the page: export again after that."
)
_NOT_EXTRACTED = (
    "The article is not extracted yet. `archiver serve` or `archiver extract` extracts it from the "
    "page: export again after that."
)


class ExportedEntries:
    """Reader of entries and their snapshots for exports."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._entries = Entries(db, store)

    async def each(
        self, manifest: Manifest, report: Report
    ) -> AsyncIterator[tuple[Entry, SnapshotDetail | None]]:
        """Yield the entries that still exist, each with one snapshot.

        The snapshot is None if it is missing or damaged. An article that is damaged or not
        extracted yet is replaced by a text that says so.

        Raises:
            StoreUnavailable: the object store cannot be read now.
        """
        at = manifest.selected.at if manifest.selected.hash_url else None
        for row in manifest.entries:
            async with self._db.read() as conn:
                entry = (await db_entries.by_ids(conn, [row])).get(row)
            if entry is None:
                continue
            try:
                snapshot = await self._entries.snapshot(entry.hash_url, at)
            except NotFound:
                yield entry, None
            except StoreUnavailable:
                raise
            except StoreError as error:
                report.leave_out(f"{entry.url}: {error}")
                yield entry, None
            else:
                if snapshot.is_unreadable or snapshot.snapshot.extractor == UNREAD:
                    why = _DAMAGED if snapshot.is_unreadable else _NOT_EXTRACTED
                    report.leave_out(f"{entry.url}: {why}")
                    snapshot = replace(snapshot, article=f"<p>{escape(why)}</p>")
                yield entry, snapshot
