"""An import: one file of links, from its first line to the last of its captures."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from archiver.model.job import QueueCounts

ARCHIVE_FORMS = ("WARC", "ARC", "WACZ")
"""What files are called that hold captures, and not links."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row of a file, or a submitted URL, that is not saved.

    Attributes:
        given: as it was given.
        reason: why, in a sentence.
        row: its place among the rows of its file, from 1; 0 for a submitted URL.
        is_left_out: nothing is wrong with it; it was not chosen.
        is_broken: the file can't be read at this place, so links may be missing.
    """

    given: str
    reason: str
    row: int = 0
    is_left_out: bool = False
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What a stretch of an archive file brought.

    Attributes:
        read: records that could be captures.
        fresh: captures that are new here.
        known: captures that were here.
        pages: snapshots that were made.
        unusable: records that can't be kept, and why.
        passed_over: records that are no captures.
        failed: entries that are new here and had no snapshot there: every attempt failed.
        queued: entries that waited there, and now do here.
    """

    read: int = 0
    fresh: int = 0
    known: int = 0
    pages: int = 0
    unusable: tuple[Rejected, ...] = ()
    passed_over: int = 0
    failed: int = 0
    queued: int = 0


MOST_GIVEN = 10_000
"""Characters of an address, as it was given, in a receipt."""


class Outcome(StrEnum):
    """What became of one row of a file."""

    ADDED = "added"
    MERGED = "merged"
    KNOWN = "known"
    UNUSABLE = "unusable"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """What became of one row.

    Attributes:
        row: its place among the links of the file, from 1.
        outcome: added; merged into the same address, which was here or stood in the file before,
            with what the row says beyond that; known, as it says nothing new; unusable; or left
            out, as it was not chosen.
        given: the address as it stood there.
        hash_url: of the entry; None where none could be made.
        reason: why it is unusable, in a sentence; empty if it is not.
    """

    row: int
    outcome: Outcome
    given: str
    hash_url: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ImportUndone:
    """Progress of undoing an import.

    Attributes:
        removed: how many entries were deleted, of those that only the import created.
        deletion: the deletion that restores them; 0 if nothing was deleted.
        is_done: the undo is complete.
    """

    removed: int = 0
    deletion: int = 0
    is_done: bool = False


class ImportPhase(StrEnum):
    """What is done with an import."""

    READING = "reading"
    WAITING = "waiting"
    CAPTURING = "capturing"
    STOPPED = "stopped"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class ImportStatus:
    """How far an import has come.

    Attributes:
        id: grows with time.
        name: of the file.
        format: what it was read as.
        started_at: when (aware, UTC).
        reading: whether a process is reading the file.
        without_capture: of those added, how many nobody is to capture: kept as links, or thrown
            away since.
        undone: what undoing it did; None where nobody asked for that.
        is_put_back: whether it was undone, and what only it had brought is there again.
        paused: whether there is more of a kept file to read, and nobody who reads it: the next
            service goes on with it.
        read: links read so far; the sum of the next four and ``passed_over``. Of an archive
            file: captures, the sum of ``merged``, ``known`` and ``rejected``.
        added: put into the queue; of an archive file: pages that became snapshots, and entries
            that had failed there or now wait here.
        known: here already, and the file says nothing new of them.
        merged: here already, or the same URL again in this file: what the file says beyond that
            was added; of an archive file: captures that were taken in.
        rejected: not URLs, or not records, that can be kept.
        rejected_samples: the first few of them.
        passed_over: records of an archive file that are no captures; links that were not chosen.
        error: why reading stopped early, in a sentence; empty if it did not.
        counts: where its jobs stand.
        lists_left_out: lists that the file tells of and that were not taken in: there are too many,
            or they are searches that can't be read.
    """

    id: int
    name: str
    format: str
    started_at: datetime
    reading: bool
    read: int
    added: int
    known: int
    merged: int
    rejected: int
    rejected_samples: tuple[Rejected, ...]
    error: str
    counts: QueueCounts
    passed_over: int = 0
    paused: bool = False
    without_capture: int = 0
    undone: ImportUndone | None = None
    lists_left_out: int = 0
    is_put_back: bool = False

    @property
    def is_archive(self) -> bool:
        """Whether the file holds captures, and not links."""
        return is_archive_form(self.format)

    @property
    def has_nothing_new(self) -> bool:
        """Whether it was read, and all that can be kept of it was here just so."""
        is_read = not (self.is_unread or self.error)
        return is_read and bool(self.known) and not (self.added or self.merged)

    @property
    def is_taken_back(self) -> bool:
        """Whether it was undone, and stayed so."""
        return bool(self.undone and self.undone.is_done) and not self.is_put_back

    @property
    def is_unread(self) -> bool:
        """Whether there is more of its file that is to be read, now or by the next service."""
        return self.reading or self.paused

    @property
    def is_open(self) -> bool:
        """Whether something is still to come of it."""
        return self.is_unread or self.counts.open > 0

    @property
    def phase(self) -> ImportPhase:
        """What is done with it just now, the file first."""
        if self.reading:
            return ImportPhase.READING
        if self.paused:
            return ImportPhase.WAITING
        if self.counts.open:
            return ImportPhase.CAPTURING
        return ImportPhase.STOPPED if self.error else ImportPhase.DONE


def is_archive_form(form: str) -> bool:
    """Whether files of a format hold captures, and not links."""
    return form in ARCHIVE_FORMS
