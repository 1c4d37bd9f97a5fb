"""Imports: options, progress, previews and problems of rows.

A receipt keeps the English sentence, which programs read. A page words it in its own language:
one without a detail is a text like any other, and ``with_detail`` tells those apart that have one.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from archiver.model.annotation import Annotation
from archiver.model.entry_list import EntryList, folder_names, folder_path, is_short
from archiver.model.job import QueueCounts
from archiver.model.message import Message, marked

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


TO_READ = "toread"
"""The tag of what is to be read."""


class FoldersAs(StrEnum):
    """What becomes of folders."""

    TAGS = "tags"
    PATHS = "paths"
    NOTHING = "nothing"
    LEFT_OUT = "left-out"


class ToRead(StrEnum):
    """Which links are to be read."""

    AS_SAID = "as-said"
    ALL = "all"
    NONE = "none"


class CaptureWhen(StrEnum):
    """When links are captured; ``NEVER`` keeps them as links, until somebody asks for one."""

    NOW = "now"
    IDLE = "idle"
    NEVER = "never"


class ColumnRole(StrEnum):
    """What a column of a table says."""

    URL = "url"
    TITLE = "title"
    NOTE = "note"
    TAGS = "tags"
    FOLDER = "folder"
    DATE = "date"
    READ = "read"
    STARRED = "starred"
    LATER = "later"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Choices:
    """What is chosen for an import.

    Attributes:
        tags: which each link gets.
        folders_as: each folder's name as a tag, its whole path as one, or neither; where a link
            lay is kept in these cases, and left out in the last.
        to_read: as the file says, all of them, or none.
        capture: when.
        only_folders: paths; links that lie in none of them or below are left out. All, if empty.
        into: the path of a list in which all of them are put, above those they are in; or empty.
        columns: what columns of a table say, by name, where they were told wrongly.
    """

    tags: tuple[str, ...] = ()
    folders_as: FoldersAs = FoldersAs.TAGS
    to_read: ToRead = ToRead.AS_SAID
    capture: CaptureWhen = CaptureWhen.NOW
    only_folders: tuple[str, ...] = ()
    into: str = ""
    columns: Mapping[str, ColumnRole] | None = None

    @classmethod
    def read(cls, document: str) -> "Choices":
        """What ``write`` wrote; those of nobody, if it is empty."""
        known = json.loads(document) if document else {}
        columns = known.get("columns")
        return cls(
            tags=tuple(known.get("tags", ())),
            folders_as=FoldersAs(known.get("folders_as", FoldersAs.TAGS)),
            to_read=ToRead(known.get("to_read", ToRead.AS_SAID)),
            capture=CaptureWhen(known.get("capture", CaptureWhen.NOW)),
            only_folders=tuple(known.get("only_folders", ())),
            into=known.get("into", ""),
            columns={name: ColumnRole(role) for name, role in columns.items()} if columns else None,
        )

    def write(self) -> str:
        """The choices as JSON."""
        return json.dumps({name: getattr(self, name) for name in self.__dataclass_fields__})

    def takes(self, annotation: Annotation) -> bool:
        """Whether a link is among those that are chosen."""
        return not self.only_folders or any(
            path == only or path.startswith(f"{only}/")
            for path in annotation.folders
            for only in self.only_folders
        )

    def applied(self, annotation: Annotation, source: str) -> Annotation:
        """What is said of a link, as was chosen: folders first, then its own tags, then these.

        ``source`` is where it comes from, unless it says so itself.
        """
        of_folders = _of_folders(annotation.folders, self.folders_as) if annotation.folders else ()
        source = annotation.source or source
        if not of_folders and self._adds_nothing:
            is_same = source == annotation.source
            return annotation if is_same else annotation.labelled(annotation.tags, source)
        own = (*_unlike(annotation.tags, of_folders), *annotation.tags, *self.tags)
        tags = dict.fromkeys((*own, TO_READ) if self.to_read is ToRead.ALL else own)
        if self.to_read is ToRead.NONE:
            tags.pop(TO_READ, None)
        labelled = annotation.labelled(tuple(tags), source)
        is_left_out = self.folders_as is FoldersAs.LEFT_OUT
        if not (self.into or is_left_out):
            return labelled
        kept = {} if is_left_out else annotation.lists
        return labelled.in_lists(_within(self.into, kept) if self.into else kept)

    def arranged(self, lists: Sequence[EntryList]) -> tuple[EntryList, ...]:
        """The lists that a file tells of, as was chosen for what lies in folders."""
        if self.only_folders or self.folders_as is FoldersAs.LEFT_OUT:
            return ()
        if not self.into:
            return tuple(lists)
        outer = folder_names(self.into)
        return tuple(EntryList(_below(outer, each.path), each.query) for each in lists)

    @property
    def _adds_nothing(self) -> bool:
        changes_nothing = (
            self.to_read is ToRead.AS_SAID and self.folders_as is not FoldersAs.LEFT_OUT
        )
        return changes_nothing and not (self.tags or self.into)

    def with_tags_stated(self) -> "Choices":
        """The same for a file among whose tags are those that its folders have become."""
        is_same = self.folders_as is not FoldersAs.TAGS
        return self if is_same else replace(self, folders_as=FoldersAs.NOTHING)


def _of_folders(folders: tuple[str, ...], folders_as: FoldersAs) -> tuple[str, ...]:
    """The tags that folders become; those of short ones are remembered."""
    return (_known_tags if is_short(folders) else _tags_of)(folders, folders_as)


def _tags_of(folders: tuple[str, ...], folders_as: FoldersAs) -> tuple[str, ...]:
    if folders_as is FoldersAs.TAGS:
        return tuple(name for path in folders for name in folder_names(path))
    return folders if folders_as is FoldersAs.PATHS else ()


_known_tags = lru_cache(4096)(_tags_of)


def _unlike(tags: tuple[str, ...], of_folders: tuple[str, ...]) -> tuple[str, ...]:
    """The tags of folders without those that a link has in other letters: *Design*, *design*."""
    if not (tags and of_folders):
        return of_folders
    own = {tag.casefold() for tag in tags}
    return tuple(each for each in of_folders if each in tags or each.casefold() not in own)


def _within(into: str, lists: Mapping[str, int]) -> dict[str, int]:
    """The same lists below another one, or that one alone."""
    outer = folder_names(into)
    inner = {_below(outer, path): lists[path] for path in lists}
    return inner or {folder_path(outer): 0}


def _below(outer: tuple[str, ...], path: str) -> str:
    return folder_path((*outer, *folder_names(path)))


NO_CHOICES = Choices()
"""What is done where nobody chose."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A name, and how often it occurs."""

    name: str
    count: int


class FormatEvidence(StrEnum):
    """What tells of which kind a file is."""

    FILES = "files"
    COLUMNS = "columns"
    FIELDS = "fields"
    ROOT = "root"
    BEGINNING = "beginning"


@dataclass(frozen=True, slots=True)
class ImportSurvey:
    """What is in a file of links.

    Attributes:
        name: of the file.
        format: what it would be read as.
        told_by: what told that.
        names: what was seen there: of the files in it, of columns, of fields, or of its root
            element.
        encoding: what its text is read as; empty if it is none.
        is_whole: whether all of it was looked at.
        read: links; the sum of the next five.
        new: would be added.
        known: are in the archive or wait; what the file says of them would be added to it.
        merged: a new address again, in this file.
        unusable: can't be kept.
        left_out: were not chosen.
        reasons: why, with how many.
        samples: of those that can't be kept, the first few.
        earliest, latest: when links were saved; None where the file does not tell.
        folders, tags: the commonest first; folders in the order of their paths.
        folder_count, tag_count: how many there are.
        fields: what is said, with how many links say it.
        kept: what goes into source records, with how many.
        sample: the first links, as they would be kept.
        lists: how many it tells of beside its links, as entries or not.
        lists_left_out: how many of them would not be taken in: there are too many, or they are
            searches that can't be read.
        columns: what those of a table of an unknown kind are taken for, by name, in order.
    """

    name: str
    format: str
    told_by: FormatEvidence
    names: str
    encoding: str
    is_whole: bool
    read: int
    new: int
    known: int
    merged: int
    unusable: int
    left_out: int
    reasons: tuple[Counted, ...]
    samples: tuple[Rejected, ...]
    earliest: datetime | None
    latest: datetime | None
    folders: tuple[Counted, ...]
    folder_count: int
    tags: tuple[Counted, ...]
    tag_count: int
    fields: tuple[Counted, ...]
    kept: tuple[Counted, ...]
    sample: tuple[Annotation, ...]
    columns: tuple[tuple[str, ColumnRole], ...] = ()
    lists: int = 0
    lists_left_out: int = 0


def ends_of(moments: Iterable[int]) -> tuple[int, ...]:
    """The earliest and the latest of some moments; none of none."""
    some = [*moments]
    return (min(some), max(some)) if some else ()


NO_ADDRESS = marked("This row holds no address.")
NO_ROW = marked("This is no row of the list.")
NESTED = marked("This is nested too deep.")
FOLDER_NESTED = marked("This folder is nested too deep.")
HIDDEN = marked(
    "{detail} addresses in comments or scripts of this file are not read. Remove the comment marks "
    "and import it again if they are bookmarks."
)
NO_LINK = marked("From here on there are tags and no link: the rest is not read.")

NO_JSON = marked("This is no JSON that can be read: {detail}.")
DATABASE_ENDS = marked("The database can't be read any further: {detail}.")
TABLE_ENDS = marked("The table can't be read any further here: {detail}.")
NO_PROPERTY_LIST = marked("This property list can't be read: {detail}.")
TOO_LONG = marked("The address is longer than {most} characters.")
OTHER_SCHEME = marked("Only http and https addresses can be kept, and this one is “{scheme}:”.")
NO_SCHEME = marked("The address has no scheme. Did you mean {meant}?")
_WITH_DETAIL = (
    HIDDEN,
    NO_JSON,
    DATABASE_ENDS,
    TABLE_ENDS,
    NO_PROPERTY_LIST,
    OTHER_SCHEME,
    NO_SCHEME,
    TOO_LONG,
)
_VALUE = re.compile(r"\\\{(\w+)\\\}")
_PATTERNS = [
    (text, re.compile(_VALUE.sub(r"(?P<\1>.*)", re.escape(text)), re.DOTALL))
    for text in _WITH_DETAIL
]


def problem_of(text: str, detail: object) -> str:
    """One of the sentences above with its detail."""
    return str(Message(text, detail=str(detail)))


def with_detail(reason: str) -> Message | str:
    """A reason as it stands in a receipt, as what words it: itself, where it has no detail."""
    for text, pattern in _PATTERNS:
        if found := pattern.fullmatch(reason):
            return Message(text, **found.groupdict())
    return reason


def as_message(reason: str) -> Message:
    """A reason as it stands in a receipt, as what goes into another sentence."""
    found = with_detail(reason)
    return Message(found) if isinstance(found, str) else found
