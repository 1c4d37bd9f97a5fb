"""Every kind of file that can be imported, as people are told: one table for page and command."""

from dataclasses import dataclass

from archiver.formats.importers import IMPORTERS
from archiver.model.message import marked


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """One kind of file.

    Attributes:
        name: what a person calls it.
        origin: who writes such files, and where it is found there; empty if that needs no saying.
        suffixes: of such files, without the dot.
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
"""What files hold links, then what files hold captures."""


def suffixes() -> tuple[str, ...]:
    """The suffixes of all of them, with their dots, each once."""
    return tuple(dict.fromkeys(f".{suffix}" for each in KNOWN_FORMATS for suffix in each.suffixes))
