"""What a person chooses for all links of a file: what is kept, how, and when it is captured."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from archiver.model.annotation import Annotation
from archiver.model.entry_list import EntryList
from archiver.model.folder_path import folder_names, folder_path, is_short

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
