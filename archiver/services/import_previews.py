"""Import previews."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from archiver.db import new_entries, tags_and_lists
from archiver.db.engine import Database
from archiver.errors import NotFound
from archiver.formats.import_process import Batch, LinkFile, open_links
from archiver.model.annotation import Annotation, read_source_record
from archiver.model.entry_list import ListsInFile, with_more
from archiver.model.imports import NO_CHOICES, Choices, Counted, ImportSurvey
from archiver.model.message import marked
from archiver.model.seed import SaveOutcome, Seed
from archiver.services.import_reading import by_capture, usable_lists

if TYPE_CHECKING:
    from archiver.model.imports import Rejected

TMP = "tmp"
STALE_SECONDS = 86400
WHOLE, PREVIEW_SUFFIX = ".upload", ".look"
"""Suffixes of complete uploads: files to be imported, and files that were only previewed so far."""
UPLOAD_EXPIRED = marked("This upload has expired. Upload the file again.")
_NAME = ".name"
_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class PreviewedFile:
    """An uploaded file that the user has not imported or discarded yet."""

    token: str
    path: Path
    name: str


class PreviewedFiles:
    """Previewed files in the data directory of the machine that received them."""

    def __init__(self, data: Path) -> None:
        self._directory = data / TMP

    async def store(self, path: Path, name: str) -> PreviewedFile:
        """Store a complete upload, which is in ``data/tmp`` already, until the user decides."""
        target = path.with_suffix(PREVIEW_SUFFIX)
        name_file = target.with_suffix(_NAME)
        await asyncio.to_thread(name_file.write_text, json.dumps(name), encoding="utf-8")
        await asyncio.to_thread(path.rename, target)
        return PreviewedFile(target.stem, target, name)

    async def find(self, token: str) -> PreviewedFile:
        """Return a stored file.

        Raises:
            NotFound: there is none with this token, or it was deleted after a day.
        """
        if not _TOKEN.fullmatch(token):
            raise NotFound(UPLOAD_EXPIRED)
        path = self._directory / f"{token}{PREVIEW_SUFFIX}"
        try:
            name = json.loads(await asyncio.to_thread(path.with_suffix(_NAME).read_bytes))
        except (FileNotFoundError, ValueError):
            raise NotFound(UPLOAD_EXPIRED) from None
        if not await asyncio.to_thread(path.is_file):
            raise NotFound(UPLOAD_EXPIRED)
        return PreviewedFile(token, path, str(name))

    def old_uploads(self) -> list[Path]:
        """Return the complete uploads from more than a day ago. Blocking."""
        return [path for path in self._directory.glob(f"*{WHOLE}") if _is_stale(path)]

    async def discard(self, preview: PreviewedFile) -> None:
        """Delete a file that the user does not import."""
        for path in (preview.path, preview.path.with_suffix(_NAME)):
            await asyncio.to_thread(path.unlink, missing_ok=True)

    async def claim(self, preview: PreviewedFile) -> Path:
        """Rename a file for its import and return the new path.

        Raises:
            NotFound: another request imported or discarded it.
        """
        try:
            return await asyncio.to_thread(_renamed, preview.path)
        except FileNotFoundError:
            raise NotFound(UPLOAD_EXPIRED) from None


def remove_stale(directory: Path) -> None:
    """Delete previewed files that are older than a day. Blocking."""
    for path in (*directory.glob(f"*{PREVIEW_SUFFIX}"), *directory.glob(f"*{_NAME}")):
        if _is_stale(path):
            path.unlink(missing_ok=True)


def _is_stale(path: Path) -> bool:
    try:
        return path.stat().st_mtime < time.time() - STALE_SECONDS
    except FileNotFoundError:
        return False


def _renamed(path: Path) -> Path:
    whole = path.with_suffix(WHOLE)
    path.rename(whole)
    path.with_suffix(_NAME).unlink(missing_ok=True)
    return whole


SAMPLE = 20
MAX_NAMES = 100_000
MAX_SHOWN = 200
_FIELDS = {
    "title": marked("title"),
    "note": marked("note"),
    "tags": marked("tags"),
    "folders": marked("folders"),
    "is_read": marked("read"),
    "is_starred": marked("starred"),
}


class ImportSurveys:
    """Dry runs of imports. ``memory_bytes`` limits the memory of the process that parses files."""

    def __init__(self, db: Database, *, memory_bytes: int) -> None:
        self._db = db
        self._memory_bytes = memory_bytes

    async def preview(
        self, source: BinaryIO, name: str, *, choices: Choices = NO_CHOICES, most: int | None = None
    ) -> ImportSurvey:
        """Preview an import.

        Args:
            source: stream that is read from its current position; it need not be seekable.
            name: name of the file, for messages.
            choices: options of the import.
            most: number of links after which reading stops; None for all.

        Raises:
            UnreadableFile: the file is empty, has the wrong format, or contains no link.
        """
        opened = open_links(source, name, memory_bytes=self._memory_bytes, choices=choices)
        async with opened as links:
            tally = _Tally()
            batch = await links.first_batch()
            while batch and (most is None or tally.read < most):
                tally.add(batch, await self._predicted_results(batch, choices))
                batch = await links.next_batch()
            left_out = await self._left_out(tally.lists)
            return tally.survey(name, links, is_whole=not batch, lists_left_out=left_out)

    async def _left_out(self, lists: ListsInFile) -> int:
        """Return how many lists would not be imported."""
        usable = usable_lists(lists)
        async with self._db.read() as conn:
            _, left_out = with_more(await tags_and_lists.all_lists(conn), usable.found)
        return len(left_out) + usable.left_out

    async def _predicted_results(self, batch: Batch, choices: Choices) -> dict[str, SaveOutcome]:
        """Predict, by hash_url, the results of importing links whose entries already exist."""
        outcomes: dict[str, SaveOutcome] = {}
        for capture, seeds in by_capture(batch.seeds, choices).items():
            async with self._db.read() as conn:
                outcomes |= await new_entries.predict(
                    conn, [each.seed for each in seeds], capture=capture
                )
        return outcomes


class _Tally:
    """Counters of a preview."""

    def __init__(self) -> None:
        self.read = 0
        self.lists = ListsInFile()
        self._numbers: Counter[str] = Counter()
        self._seen: set[int] = set()
        self._reasons: Counter[str] = Counter()
        self._samples: tuple[Rejected, ...] = ()
        self._sample: tuple[Annotation, ...] = ()
        self._saved = set[int]()
        self._folders: Counter[str] = Counter()
        self._tags: Counter[str] = Counter()
        self._fields: Counter[str] = Counter()
        self._unimported: Counter[str] = Counter()

    def add(self, batch: Batch, outcomes: Mapping[str, SaveOutcome]) -> None:
        """Count a batch.

        ``outcomes`` has the predicted results of links whose entries exist, by hash_url. All other
        links are new.
        """
        self.read += batch.size
        self.lists = self.lists.with_more(batch.lists)
        self._saved.update(batch.saved)
        unusable = [each for each in batch.rejected if not each.is_left_out]
        self._numbers["unusable"] += len(unusable)
        self._numbers["left out"] += len(batch.rejected) - len(unusable)
        self._samples += tuple(unusable[: SAMPLE - len(self._samples)])
        _count(self._reasons, (each.reason for each in unusable))
        for each in batch.seeds:
            seed = each.seed
            self._add_address(seed, outcomes.get(seed.hash_url, SaveOutcome.ADDED))
            self._add_annotation(seed.annotation)
            if len(self._sample) < SAMPLE:
                self._sample += (seed.annotation,)

    def survey(
        self, name: str, links: LinkFile, *, is_whole: bool, lists_left_out: int
    ) -> ImportSurvey:
        """Return the preview."""
        moments = [datetime.fromtimestamp(each, UTC) for each in self._saved]
        return ImportSurvey(
            name=name,
            format=links.form,
            encoding=links.encoding,
            is_whole=is_whole,
            read=self.read,
            new=self._numbers[SaveOutcome.ADDED],
            known=self._numbers[SaveOutcome.KNOWN],
            merged=self._numbers[SaveOutcome.MERGED],
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
            kept=_commonest(self._unimported),
            sample=self._sample,
            columns=links.columns,
            lists=len(self.lists.found) + self.lists.left_out,
            lists_left_out=lists_left_out,
        )

    def _add_address(self, seed: Seed, received: SaveOutcome) -> None:
        short = int(seed.hash_url[:16], 16)
        is_again = received is SaveOutcome.ADDED and short in self._seen
        self._numbers[SaveOutcome.MERGED if is_again else received] += 1
        self._seen.add(short)

    def _add_annotation(self, annotation: Annotation) -> None:
        _count(self._folders, annotation.folders)
        _count(self._tags, annotation.tags)
        _count(
            self._fields, (label for name, label in _FIELDS.items() if getattr(annotation, name))
        )
        if annotation.source_record:
            records: list[dict[str, Any]] = read_source_record(annotation.source_record)
            _count(self._unimported, {name for each in records for name in each})


def _count(counter: Counter[str], names: Iterable[str]) -> None:
    """Count names; at most ``MAX_NAMES`` distinct names are counted."""
    for name in names:
        if name in counter or len(counter) < MAX_NAMES:
            counter[name] += 1


def _commonest(counter: Counter[str]) -> tuple[Counted, ...]:
    return tuple(Counted(*each) for each in counter.most_common(MAX_SHOWN))
