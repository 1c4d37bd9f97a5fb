"""What an import would do: a file that was looked at, before anything of it is kept."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from archiver.model.annotation import Annotation
from archiver.model.choices import ColumnRole
from archiver.model.importing import Rejected


@dataclass(frozen=True, slots=True)
class Counted:
    """A name, and how often it occurs."""

    name: str
    count: int


class Sign(StrEnum):
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
    told_by: Sign
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
