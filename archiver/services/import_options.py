"""Import options and supported formats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from archiver.errors import InputError
from archiver.formats.detection import IMPORTERS
from archiver.formats.seeds import tidy_tag
from archiver.model.entry_list import folder_names, folder_path
from archiver.model.imports import CaptureWhen, Choices, ColumnRole, FoldersAs, ToRead
from archiver.model.message import marked
from archiver.services.submitted_urls import clean_tags

MOST_FOLDERS = 1_000
MOST_COLUMNS = 500
MOST_INTO = 16
"""Maximum depth of the list path for an import."""
_MOST_PATH = 5_000
_Kind = TypeVar("_Kind", bound=StrEnum)


def typed_choices(
    *,
    tags: Sequence[str] = (),
    words: Mapping[str, str],
    only_folders: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> Choices:
    """Build import options from words.

    Args:
        tags: for all links.
        words: ``folders_as``, ``to_read``, ``capture`` and ``into``; missing ones get defaults.
        only_folders: paths.
        columns: each ``role=name of the column``.

    Raises:
        InputError: a word is invalid.
    """
    return Choices(
        tags=clean_tags(tags),
        folders_as=_one(FoldersAs, words.get("folders_as"), FoldersAs.TAGS, "Folders become"),
        to_read=_one(ToRead, words.get("to_read"), ToRead.AS_SAID, "to_read"),
        capture=_one(CaptureWhen, words.get("capture"), CaptureWhen.NOW, "capture"),
        only_folders=_paths(only_folders),
        into=_into(words.get("into", "")),
        columns=_columns(columns),
    )


def _one(kind: type[_Kind], word: str | None, otherwise: _Kind, about: str) -> _Kind:
    try:
        return kind(word) if word else otherwise
    except ValueError:
        raise InputError("{name} is one of {known}.", name=about, known=", ".join(kind)) from None


def _paths(given: Sequence[str]) -> tuple[str, ...]:
    if len(given) > MOST_FOLDERS:
        raise InputError("{most} folders at once is the most.", most=MOST_FOLDERS)
    return tuple(dict.fromkeys(filter(None, map(_path, given))))


def _path(given: str) -> str:
    """Normalise a folder path."""
    return folder_path(map(tidy_tag, folder_names(given[:_MOST_PATH])))


def _into(given: str) -> str:
    """Validate the list for an import, leaving room for the folders of the file."""
    path = _path(given)
    if len(given) > _MOST_PATH or len(folder_names(given)) > MOST_INTO:
        raise InputError(
            "A list to put all into lies in {most} others at most.", most=MOST_INTO - 1
        )
    return path


def _columns(given: Sequence[str]) -> dict[str, ColumnRole] | None:
    if len(given) > MOST_COLUMNS:
        raise InputError("{most} columns is the most.", most=MOST_COLUMNS)
    found = {}
    for each in given:
        role, equals, name = each.partition("=")
        if not equals:
            raise InputError("Say of a column what it says, such as url={each}.", each=each[:100])
        found[name] = _one(ColumnRole, role, ColumnRole.KEEP, "A column says")
    return found or None


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A supported file format.

    Attributes:
        name: of the format.
        origin: which program exports it, and where; empty if obvious.
        suffixes: of files, without the dot.
    """

    name: str
    origin: str
    suffixes: tuple[str, ...]


_ARCHIVES = (
    KnownFormat("WARC", marked("captures of another archive"), ("warc", "gz", "zst")),
    KnownFormat("ARC", marked("captures of an old archive"), ("arc",)),
    KnownFormat("WACZ", marked("captures of another archive, packed with their index"), ("wacz",)),
)
KNOWN_FORMATS: tuple[KnownFormat, ...] = (
    *(KnownFormat(each.name, each.origin, each.suffixes) for each in IMPORTERS),
    *_ARCHIVES,
)
"""Formats with links, then formats with captures."""


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all formats with their dots, without duplicates."""
    return tuple(dict.fromkeys(f".{suffix}" for each in KNOWN_FORMATS for suffix in each.suffixes))
