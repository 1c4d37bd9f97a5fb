"""Imports: options, progress, previews, and problems of rows.

A report contains the reason of each problem as an English sentence. To translate such a sentence,
``with_detail`` splits it into a message and its details.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import msgspec

from archiver.errors import NO_SCHEME, OTHER_SCHEME, URL_TOO_LONG
from archiver.model.annotation import Annotation, tag_key, unique_tags
from archiver.model.entry_list import EntryList, folder_names, folder_path
from archiver.model.job import QueueCounts
from archiver.model.message import Message, marked

ARCHIVE_FORMS = ("WARC", "ARC", "WACZ")
"""Formats of files that contain captures instead of links."""
UNNAMED = "upload"
"""Name of an uploaded file whose sender gave none."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row of a file, or a submitted URL, that is not saved.

    Attributes:
        given: the URL as submitted.
        reason: why it is not saved, as a sentence.
        row: number of the row in its file, from 1; 0 for a submitted URL.
        is_left_out: whether the row is valid, but the user did not select it.
        is_broken: whether the file can't be read at this position, so that links may be missing.
    """

    given: str
    reason: str
    row: int = 0
    is_left_out: bool = False
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """Counts for a batch of records from an archive file.

    Attributes:
        read: number of records that could be captures.
        fresh: number of new captures.
        known: number of captures that were stored already.
        pages: number of new snapshots.
        unusable: rejected records.
        passed_over: number of records that are not captures.
        failed: number of new entries without a snapshot, because all attempts of the other archive
            failed.
        queued: number of entries that the other archive had queued, and that are queued now.
    """

    read: int = 0
    fresh: int = 0
    known: int = 0
    pages: int = 0
    unusable: tuple[Rejected, ...] = ()
    passed_over: int = 0
    failed: int = 0
    queued: int = 0


MAX_SUBMITTED = 10_000
"""Maximum characters of a submitted URL in a report."""


class Outcome(StrEnum):
    """Result for one row of a file."""

    ADDED = "added"
    MERGED = "merged"
    KNOWN = "known"
    UNUSABLE = "unusable"
    LEFT_OUT = "left out"


class ReportRow(NamedTuple):
    """Result for one row of a file.

    Attributes:
        row: number of the link in the file, from 1.
        outcome: ``ADDED``: the row is a new entry. ``MERGED``: the row has new metadata for an
            existing entry or for an earlier row. ``KNOWN``: the row has nothing new. ``UNUSABLE``:
            the row is invalid. ``LEFT_OUT``: the user did not select the row.
        given: the URL as in the file.
        hash_url: hash_url of the entry; None if the row has no entry.
        reason: why the row is unusable, as a sentence; else empty.
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
        removed: number of deleted entries (those created only by the import).
        deletion: id of the deletion, by which these entries can be restored; 0 if nothing was
            deleted.
        is_done: whether the undo is complete.
    """

    removed: int = 0
    deletion: int = 0
    is_done: bool = False


class ImportPhase(StrEnum):
    """Phase of an import."""

    READING = "reading"
    WAITING = "waiting"
    CAPTURING = "capturing"
    PAUSED = "paused"
    INCOMPLETE = "incomplete"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class ImportStatus:
    """Progress of an import.

    Attributes:
        id: number of the import; later imports have higher numbers.
        name: name of the file.
        format: detected format.
        started_at: when the import started (aware, UTC).
        reading: whether a process is reading the file.
        without_capture: number of added entries that will not be captured, because they were saved
            as links or have been deleted.
        undone: result of undoing the import; None if it was not undone.
        is_restored: whether the import was undone and its entries were restored afterwards.
        paused: whether the stored file is not read to the end, and no process is reading it.
        read: number of links read so far: the sum of ``added``, ``known``, ``merged``,
            ``rejected`` and ``passed_over``. For an archive file, number of captures read so far:
            the sum of ``merged``, ``known`` and ``rejected``.
        added: number of new links; for an archive file, of new snapshots and of entries that had
            failed or were queued in the other archive.
        known: number of links that were saved already, without new metadata in the file.
        merged: number of links that were saved already or are repeated in the file, with new
            metadata; for an archive file, of new captures.
        rejected: number of invalid URLs or records.
        rejected_samples: the first few rejected URLs or records.
        passed_over: number of links that were not selected; for an archive file, of records that
            are not captures.
        error: why reading stopped early, as a sentence; else empty.
        counts: number of the import's jobs by state.
        lists_left_out: number of lists that were not imported, because there are too many lists or
            a saved search can't be parsed.
        captures_paused: whether the user paused the captures of this import.
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
    is_restored: bool = False
    captures_paused: bool = False

    @property
    def is_archive(self) -> bool:
        """Whether the file contains captures instead of links."""
        return is_archive_form(self.format)

    @property
    def is_undo_complete(self) -> bool:
        """Whether the import was undone, and its entries were not restored."""
        return bool(self.undone and self.undone.is_done) and not self.is_restored

    @property
    def has_nothing_new(self) -> bool:
        """Whether all links of the file were saved already, without new metadata."""
        is_read = not (self.is_unread or self.error)
        return is_read and bool(self.known) and not (self.added or self.merged)

    @property
    def is_unread(self) -> bool:
        """Whether the file is not completely read yet."""
        return self.reading or self.paused

    @property
    def is_open(self) -> bool:
        """Whether there is more to read or capture."""
        return self.is_unread or self.counts.open > 0

    @property
    def phase(self) -> ImportPhase:
        """The current phase; reading the file comes first."""
        if self.reading:
            return ImportPhase.READING
        if self.paused:
            return ImportPhase.WAITING
        if self.counts.open:
            is_paused = self.captures_paused and not self.counts.fetching
            return ImportPhase.PAUSED if is_paused else ImportPhase.CAPTURING
        return ImportPhase.INCOMPLETE if self.error else ImportPhase.DONE


def is_archive_form(form: str) -> bool:
    """Return whether files of a format contain captures instead of links."""
    return form in ARCHIVE_FORMS


TO_READ = "toread"
"""Tag of entries to read later."""


class FoldersAs(StrEnum):
    """Treatment of the folders in a file.

    ``LISTS``: a folder becomes a list. ``TAGS``: in addition, each folder name in its path becomes
    a tag. ``PATHS``: in addition, its whole path becomes one tag. ``IGNORED``: folders are not
    imported.
    """

    TAGS = "tags"
    PATHS = "paths"
    LISTS = "lists"
    IGNORED = "ignored"


class ToRead(StrEnum):
    """Choice of the links that are tagged to read later."""

    AS_IN_FILE = "as-in-file"
    ALL = "all"
    NONE = "none"


class CaptureWhen(StrEnum):
    """Time of the capture of links.

    ``IDLE`` means when no other job is due. ``NEVER`` saves links without a capture until the user
    requests one.
    """

    NOW = "now"
    IDLE = "idle"
    NEVER = "never"


class ColumnRole(StrEnum):
    """Content of a table's column."""

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
    """Options of an import.

    Attributes:
        tags: tags that are added to each link.
        folders_as: what the folders of a link become.
        to_read: which links are tagged to read later: as in the file, all, or none.
        capture: when links are captured.
        only_folders: paths of folders; links outside of them are skipped. If empty, no link is
            skipped.
        into: path of a list that becomes the parent of all folders; or empty.
        columns: roles of columns by name, to correct the detected ones.
    """

    tags: tuple[str, ...] = ()
    folders_as: FoldersAs = FoldersAs.LISTS
    to_read: ToRead = ToRead.AS_IN_FILE
    capture: CaptureWhen = CaptureWhen.NOW
    only_folders: tuple[str, ...] = ()
    into: str = ""
    columns: Mapping[str, ColumnRole] | None = None

    @classmethod
    def read(cls, document: str) -> "Choices":
        """Parse the JSON that ``write`` returned; an empty text gives the default options."""
        return msgspec.json.decode(document, type=cls) if document else cls()

    def write(self) -> str:
        """Return the options as JSON."""
        return msgspec.json.encode(self).decode()

    def selects(self, annotation: Annotation) -> bool:
        """Return whether a link is selected."""
        return not self.only_folders or any(
            path == only or path.startswith(f"{only}/")
            for path in annotation.folders
            for only in self.only_folders
        )

    def applied(self, annotation: Annotation) -> Annotation:
        """Apply the options to a link.

        The tags from its folders come first, then its own tags, then the tags of the options.
        """
        of_folders = _folder_tags(annotation.folders, self.folders_as) if annotation.folders else ()
        if not of_folders and self._adds_nothing:
            return annotation
        tags = unique_tags((*of_folders, *annotation.tags, *self.tags))
        if self.to_read is ToRead.ALL:
            tags = unique_tags((*tags, TO_READ))
        elif self.to_read is ToRead.NONE:
            tags = tuple(each for each in tags if tag_key(each) != TO_READ)
        labelled = replace(annotation, tags=tags)
        is_left_out = self.folders_as is FoldersAs.IGNORED
        if not (self.into or is_left_out):
            return labelled
        lists = {} if is_left_out else annotation.lists
        return labelled.in_lists(_moved_below(self.into, lists) if self.into else lists)

    def arranged(self, lists: Sequence[EntryList]) -> tuple[EntryList, ...]:
        """Return the lists of a file after applying the options for folders.

        If the user selected some folders, or ignores all of them, no lists are imported.
        """
        if self.only_folders or self.folders_as is FoldersAs.IGNORED:
            return ()
        if not self.into:
            return tuple(lists)
        outer = folder_names(self.into)
        return tuple(replace(each, path=_below(outer, each.path)) for each in lists)

    @property
    def _adds_nothing(self) -> bool:
        changes_nothing = (
            self.to_read is ToRead.AS_IN_FILE and self.folders_as is not FoldersAs.IGNORED
        )
        return changes_nothing and not (self.tags or self.into)

    def with_tags_stated(self) -> "Choices":
        """Return a copy that adds no tags for folders; some files already have these tags."""
        is_same = self.folders_as is not FoldersAs.TAGS
        return self if is_same else replace(self, folders_as=FoldersAs.LISTS)


def _folder_tags(folders: tuple[str, ...], folders_as: FoldersAs) -> tuple[str, ...]:
    """Return the tags for folders."""
    if folders_as is FoldersAs.TAGS:
        return tuple(name for path in folders for name in folder_names(path))
    return folders if folders_as is FoldersAs.PATHS else ()


def _moved_below(parent: str, lists: Mapping[str, int]) -> dict[str, int]:
    """Move lists below ``parent``; if there are none, return only ``parent``."""
    outer = folder_names(parent)
    inner = {_below(outer, path): lists[path] for path in lists}
    return inner or {folder_path(outer): 0}


def _below(outer: tuple[str, ...], path: str) -> str:
    return folder_path((*outer, *folder_names(path)))


NO_CHOICES = Choices()
"""Default options."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A name and its number of occurrences."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class ImportSurvey:
    """Preview of a file of links.

    Attributes:
        name: name of the file.
        format: detected format.
        encoding: encoding of the text; empty if the file is not text.
        is_whole: whether the whole file was read.
        read: number of links: the sum of ``new``, ``known``, ``merged``, ``unusable`` and
            ``left_out``.
        new: number of links that would be added.
        known: number of links that are saved already, without new metadata in the file.
        merged: number of links that are saved already, with new metadata, or are repeated in the
            file.
        unusable: number of invalid links.
        left_out: number of links that are not selected.
        reasons: why links are invalid, with the number of links for each reason.
        samples: the first few invalid links.
        earliest, latest: when the first and the last link were saved; None if unknown.
        folders: the most frequent folders, sorted by path.
        tags: the most frequent tags.
        folder_count, tag_count: number of all folders, and of all tags.
        fields: metadata fields, with the number of links that have them.
        kept: fields that are stored in source records, with the number of links that have them.
        sample: the first links, as they would be saved.
        lists: number of lists that the file defines separately from links.
        lists_left_out: number of lists that would not be imported, because there are too many lists
            or a saved search can't be parsed.
        columns: (name, detected role) of each column of a table in an unknown format, in order.
    """

    name: str
    format: str
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


NO_ADDRESS = marked("This row has no URL.")
NO_ROW = marked("This row is not in the expected format.")
NESTED = marked("This item is nested too deeply.")
FOLDER_NESTED = marked("This folder is nested too deeply.")
UNREAD = marked(
    "{detail} URLs in this file were not imported, because they are in comments, scripts or "
    "an unknown structure. Compare the file with the imported links."
)
NO_LINK = marked(
    "From here on, the file contains HTML tags but no links, so the rest was not read."
)

UNEXPECTED = marked(
    "The rest of {name} cannot be read ({kind}). Everything before it was imported. See the log "
    "for details."
)
NO_JSON = marked("This is not valid JSON: {detail}.")
DATABASE_ENDS = marked("The rest of the database cannot be read: {detail}.")
TABLE_ENDS = marked("The rest of the table cannot be read: {detail}.")
NO_PROPERTY_LIST = marked("Cannot read this property list: {detail}.")
_WITH_DETAIL = (
    UNREAD,
    UNEXPECTED,
    NO_JSON,
    DATABASE_ENDS,
    TABLE_ENDS,
    NO_PROPERTY_LIST,
    OTHER_SCHEME,
    NO_SCHEME,
    URL_TOO_LONG,
)
_VALUE = re.compile(r"\\\{(\w+)\\\}")
_PATTERNS = [
    (text, re.compile(_VALUE.sub(r"(?P<\1>.*)", re.escape(text)), re.DOTALL))
    for text in _WITH_DETAIL
]


def format_problem(text: str, detail: object) -> str:
    """Format a sentence with the placeholder ``{detail}``."""
    return str(Message(text, detail=str(detail)))


def with_detail(reason: str) -> Message | str:
    """Return the reason in a report as a message with its details; unchanged if it has none."""
    for text, pattern in _PATTERNS:
        if match := pattern.fullmatch(reason):
            return Message(text, **match.groupdict())
    return reason


def as_message(reason: str) -> Message:
    """Return the reason of a report as a message, which can be translated."""
    message = with_detail(reason)
    return Message(message) if isinstance(message, str) else message
