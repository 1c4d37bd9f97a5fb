"""What a person chooses for all links of a file: tags to add, and what becomes of its folders."""

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from archiver.model.annotation import Annotation
from archiver.model.folder_path import folder_names


class FoldersAs(StrEnum):
    """What becomes of folders, beyond being kept as they are."""

    TAGS = "tags"
    PATHS = "paths"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Choices:
    """What is chosen for an import.

    Attributes:
        tags: which each link gets.
        folders_as: each folder's name as a tag, its whole path as one, or neither. Where a link
            lay is kept in any case.
    """

    tags: tuple[str, ...] = ()
    folders_as: FoldersAs = FoldersAs.TAGS

    @classmethod
    def read(cls, document: str) -> "Choices":
        """What ``write`` wrote; those of nobody, if it is empty."""
        said = json.loads(document) if document else {}
        return cls(tuple(said.get("tags", ())), FoldersAs(said.get("folders_as", FoldersAs.TAGS)))

    def write(self) -> str:
        """The choices as JSON."""
        return json.dumps({"tags": self.tags, "folders_as": self.folders_as})

    def applied(self, annotation: Annotation, source: str) -> Annotation:
        """What is said of a link, as was chosen: folders first, then its own tags, then these.

        ``source`` is where it comes from, unless it says so itself.
        """
        of_folders = _of_folders(annotation.folders, self.folders_as) if annotation.folders else ()
        source = annotation.source or source
        if not of_folders and not self.tags:
            return replace(annotation, source=source)
        tags = dict.fromkeys((*of_folders, *annotation.tags, *self.tags))
        return replace(annotation, tags=tuple(tags), source=source)

    def where_tags_are_said(self) -> "Choices":
        """The same for a file among whose tags are those that its folders have become."""
        is_same = self.folders_as is not FoldersAs.TAGS
        return self if is_same else replace(self, folders_as=FoldersAs.NOTHING)


@lru_cache(4096)
def _of_folders(folders: tuple[str, ...], folders_as: FoldersAs) -> tuple[str, ...]:
    if folders_as is FoldersAs.TAGS:
        return tuple(name for path in folders for name in folder_names(path))
    return folders if folders_as is FoldersAs.PATHS else ()


NO_CHOICES = Choices()
"""What is done where nobody chose."""
