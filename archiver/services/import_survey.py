"""Looks at a file of links as an import would read it, and keeps nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from archiver.derive.link_file import LinkFile, open_links
from archiver.derive.link_messages import Batch
from archiver.errors import UnreadableFile
from archiver.index import lists, seeds
from archiver.index.database import Database
from archiver.model.annotation import Annotation
from archiver.model.choices import NO_CHOICES, Choices
from archiver.model.entry_list import GivenLists, with_more
from archiver.model.message import marked
from archiver.model.seed import Reception, Seed
from archiver.model.source_record import read_source_record
from archiver.model.survey import Counted, ImportSurvey, ends_of
from archiver.services.import_reading import by_capture, usable_lists
from archiver.store.segments import SegmentStore

if TYPE_CHECKING:
    from archiver.model.importing import Rejected

SAMPLE = 20
MOST_NAMES = 100_000
MOST_SHOWN = 200
_FIELDS = {
    "title": marked("title"),
    "note": marked("note"),
    "tags": marked("tags"),
    "folders": marked("folders"),
    "is_read": marked("read"),
    "is_starred": marked("starred"),
}


class ImportSurveys:
    """Dry runs. ``memory_bytes``: of the child that reads."""

    def __init__(self, db: Database, *, memory_bytes: int) -> None:
        self._db = db
        self._memory_bytes = memory_bytes

    async def look(
        self, source: BinaryIO, name: str, *, choices: Choices = NO_CHOICES, most: int | None = None
    ) -> ImportSurvey:
        """What an import of a file would do.

        Args:
            source: read from where it stands; it need not be seekable.
            name: as the person knows it.
            choices: what is chosen for all links.
            most: after how many links it is enough; all, if none is given.

        Raises:
            UnreadableFile: it is empty, of the wrong kind, or holds no link.
        """
        opened = open_links(source, name, memory_bytes=self._memory_bytes, choices=choices)
        async with opened as links:
            tally = _Tally()
            batch = await links.next_batch()
            if not batch:
                raise UnreadableFile("{name} holds no link. Is it the right file?", name=name)
            while batch and (most is None or tally.read < most):
                tally.add(batch, await self._foreseen(batch, choices))
                batch = await links.next_batch()
            left_out = await self._left_out(tally.lists)
            return tally.survey(name, links, is_whole=not batch, lists_left_out=left_out)

    async def _left_out(self, given: GivenLists) -> int:
        """How many lists would not be taken in."""
        usable = usable_lists(given)
        async with self._db.read() as conn:
            _, left_out = with_more(await lists.all_of_them(conn), usable.found)
        return len(left_out) + usable.left_out

    async def _foreseen(self, batch: Batch, choices: Choices) -> dict[str, Reception]:
        """Predict the results of the links of a batch whose entries exist."""
        found: dict[str, Reception] = {}
        for capture, some in by_capture(batch.seeds, choices).items():
            async with self._db.read() as conn:
                found |= await seeds.foreseen(conn, [each.seed for each in some], capture=capture)
        return found


def surveys_with(memory_bytes: int) -> Callable[[Database, SegmentStore], ImportSurveys]:
    """What makes dry runs of an archive that is opened for them alone."""
    return lambda db, _: ImportSurveys(db, memory_bytes=memory_bytes)


class _Tally:
    """What was counted so far."""

    def __init__(self) -> None:
        self.read = 0
        self.lists = GivenLists()
        self._numbers: Counter[str] = Counter()
        self._seen: set[int] = set()
        self._reasons: Counter[str] = Counter()
        self._samples: tuple[Rejected, ...] = ()
        self._sample: tuple[Annotation, ...] = ()
        self._saved: tuple[int, ...] = ()
        self._folders: Counter[str] = Counter()
        self._tags: Counter[str] = Counter()
        self._fields: Counter[str] = Counter()
        self._kept: Counter[str] = Counter()

    def add(self, batch: Batch, known: Mapping[str, Reception]) -> None:
        """Count a batch, of whose addresses these are in the archive, and how they are received."""
        self.read += batch.size
        self.lists = self.lists.with_more(batch.lists)
        self._saved = ends_of((*self._saved, *batch.saved))
        unusable = [each for each in batch.rejected if not each.is_left_out]
        self._numbers["unusable"] += len(unusable)
        self._numbers["left out"] += len(batch.rejected) - len(unusable)
        self._samples += tuple(unusable[: SAMPLE - len(self._samples)])
        _count(self._reasons, (each.reason for each in unusable))
        for each in batch.seeds:
            seed = each.seed
            self._add_address(seed, known.get(seed.hash_url, Reception.ADDED))
            self._add_annotation(seed.annotation)
            if len(self._sample) < SAMPLE:
                self._sample += (seed.annotation,)

    def survey(
        self, name: str, links: LinkFile, *, is_whole: bool, lists_left_out: int
    ) -> ImportSurvey:
        """What it comes to."""
        moments = [datetime.fromtimestamp(each, UTC) for each in self._saved]
        return ImportSurvey(
            name=name,
            format=links.form,
            told_by=links.told_by[0],
            names=links.told_by[1],
            encoding=links.encoding,
            is_whole=is_whole,
            read=self.read,
            new=self._numbers[Reception.ADDED],
            known=self._numbers[Reception.KNOWN],
            merged=self._numbers[Reception.MERGED],
            unusable=self._numbers["unusable"],
            left_out=self._numbers["left out"],
            reasons=_commonest(self._reasons),
            samples=self._samples,
            earliest=min(moments, default=None),
            latest=max(moments, default=None),
            folders=tuple(sorted(_commonest(self._folders), key=lambda each: each.name)),
            folder_count=len(self._folders),
            tags=_commonest(self._tags),
            tag_count=len(self._tags),
            fields=_commonest(self._fields),
            kept=_commonest(self._kept),
            sample=self._sample,
            columns=links.columns,
            lists=len(self.lists.found) + self.lists.left_out,
            lists_left_out=lists_left_out,
        )

    def _add_address(self, seed: Seed, received: Reception) -> None:
        short = int(seed.hash_url[:16], 16)
        is_again = received is Reception.ADDED and short in self._seen
        self._numbers[Reception.MERGED if is_again else received] += 1
        self._seen.add(short)

    def _add_annotation(self, annotation: Annotation) -> None:
        _count(self._folders, annotation.folders)
        _count(self._tags, annotation.tags)
        _count(
            self._fields, (label for name, label in _FIELDS.items() if getattr(annotation, name))
        )
        if annotation.source_record:
            records: list[dict[str, Any]] = read_source_record(annotation.source_record)
            _count(self._kept, {name for each in records for name in each})


def _count(counter: Counter[str], names: Iterable[str]) -> None:
    """Count names, as long as they are not too many."""
    for name in names:
        if name in counter or len(counter) < MOST_NAMES:
            counter[name] += 1


def _commonest(counter: Counter[str]) -> tuple[Counted, ...]:
    return tuple(Counted(*each) for each in counter.most_common(MOST_SHOWN))
