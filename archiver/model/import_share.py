"""What one import added to what was said of an entry before: its share, which can be taken back."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from archiver.model.annotation import Annotation
from archiver.model.note import BETWEEN, new_paragraphs, paragraphs


@dataclass(frozen=True, slots=True)
class ImportShare:
    """The share of an import in one entry's annotation; empty fields where it has none.

    Attributes:
        tags, folders, lines: those that were not there before; lines of the source record.
        title: the one it gave an entry that had none.
        note: what it put into the note.
        is_read, is_starred: it is so by this import.
        earlier: (the moment it brought, the one before), Unix seconds, where that is an earlier
            one; None where it is not.
    """

    tags: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    title: str = ""
    note: str = ""
    is_read: bool = False
    is_starred: bool = False
    earlier: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return self != _NOTHING

    @classmethod
    def of(cls, before: Annotation, after: Annotation) -> "ImportShare":
        """What an annotation has gained that was merged with another."""
        return cls(
            tags=_new(before.tags, after.tags),
            folders=_new(before.folders, after.folders),
            lines=_new(_lines(before), _lines(after)),
            title="" if before.title else after.title,
            note=_added_note(before.note, after.note),
            is_read=after.is_read and not before.is_read,
            is_starred=after.is_starred and not before.is_starred,
            earlier=_earlier(before, after),
        )

    @classmethod
    def whole(cls, annotation: Annotation) -> "ImportShare":
        """All that is said of an entry, where one import alone has said it."""
        return cls.of(Annotation(annotation.url_given), replace(annotation, added_at=None))

    def joined(self, other: "ImportShare") -> "ImportShare":
        """Both together; where there can be but one value, this one's."""
        return ImportShare(
            tags=tuple(dict.fromkeys((*self.tags, *other.tags))),
            folders=tuple(dict.fromkeys((*self.folders, *other.folders))),
            lines=tuple(dict.fromkeys((*self.lines, *other.lines))),
            title=self.title or other.title,
            note=self.note or other.note,
            is_read=self.is_read or other.is_read,
            is_starred=self.is_starred or other.is_starred,
            earlier=self.earlier or other.earlier,
        )

    def without(self, annotation: Annotation) -> "ImportShare":
        """What is left of it when somebody else says this of the same entry."""
        return replace(
            self,
            tags=_new(annotation.tags, self.tags),
            folders=_new(annotation.folders, self.folders),
            lines=_new(_lines(annotation), self.lines),
            title="" if annotation.title == self.title else self.title,
            note=_still_note(self.note, annotation.note),
            is_read=self.is_read and not annotation.is_read,
            is_starred=self.is_starred and not annotation.is_starred,
            earlier=_still_earlier(self.earlier, annotation.added_at),
        )

    def as_annotation(self) -> Annotation:
        """The same as what somebody says."""
        return Annotation(
            "",
            added_at=datetime.fromtimestamp(self.earlier[0], UTC) if self.earlier else None,
            title=self.title,
            tags=self.tags,
            note=self.note,
            is_read=self.is_read,
            is_starred=self.is_starred,
            folders=self.folders,
            source_record="\n".join(self.lines),
        )

    def taken_from(self, annotation: Annotation) -> Annotation:
        """An annotation without this share, where it still is as it was brought."""
        lists = {path: at for path, at in annotation.lists.items() if path not in self.folders}
        return replace(
            annotation.in_lists(lists),
            tags=_new(self.tags, annotation.tags),
            source_record="\n".join(_new(self.lines, _lines(annotation))),
            title="" if annotation.title == self.title else annotation.title,
            note=_without_note(annotation.note, self.note),
            is_read=annotation.is_read and not self.is_read,
            is_starred=annotation.is_starred and not self.is_starred,
            added_at=_taken_back(annotation.added_at, self.earlier),
        )

    def write(self) -> str:
        """The share as JSON, without what is empty."""
        document = {name: value for name, value in asdict(self).items() if value}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def read(cls, document: str) -> "ImportShare":
        """What ``write`` wrote."""
        known: dict[str, Any] = json.loads(document)
        lists = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        return cls(**(known | lists))


_NOTHING = ImportShare()


def _new(known: tuple[str, ...], some: tuple[str, ...]) -> tuple[str, ...]:
    """Those of ``some`` that are not among the known ones."""
    if not (known and some):
        return some
    there = {*known}
    return tuple(each for each in some if each not in there)


def _lines(annotation: Annotation) -> tuple[str, ...]:
    return tuple(annotation.source_record.split("\n")) if annotation.source_record else ()


def _added_note(before: str, after: str) -> str:
    """What ``Annotation.merged`` put behind a note."""
    if not before or after == before:
        return "" if before else after
    return after.removeprefix(before + BETWEEN)


def _still_note(note: str, others: str) -> str:
    """What of a share's note nobody else says."""
    known = paragraphs(others)
    left = new_paragraphs(known, note) if known else []
    return note if not known or left == paragraphs(note) else BETWEEN.join(left)


def _without_note(note: str, added: str) -> str:
    if not added or note == added:
        return "" if added else note
    between = f"{BETWEEN}{added}{BETWEEN}"
    if between in note:
        return note.replace(between, BETWEEN, 1)
    behind = BETWEEN + added
    return note.removesuffix(behind).removeprefix(added + BETWEEN)


def _earlier(before: Annotation, after: Annotation) -> tuple[int, int] | None:
    if before.added_at is None or after.added_at is None or before.added_at == after.added_at:
        return None
    return _seconds(after.added_at), _seconds(before.added_at)


def _still_earlier(
    earlier: tuple[int, int] | None, others: datetime | None
) -> tuple[int, int] | None:
    """The moment that a share brought, and the earliest that anybody else says."""
    if earlier is None or others is None:
        return earlier
    brought, other = earlier[0], min(earlier[1], _seconds(others))
    return (brought, other) if brought < other else None


def _taken_back(added_at: datetime | None, earlier: tuple[int, int] | None) -> datetime | None:
    if earlier and added_at and _seconds(added_at) == earlier[0]:
        return datetime.fromtimestamp(earlier[1], UTC)
    return added_at


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())
