"""Interface of list writers."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from archiver.model.entry import ExportedEntry
from archiver.model.entry_list import EntryList


class Order(StrEnum):
    """Order of the entries, and the meaning of ``place`` in ``ListWriter.item``.

    ``SAVED``: by date of saving; ``place`` is always ``""``. ``FOLDERS``: by folder, in the order
    of each folder; an entry in several folders is repeated, and ``place`` is the folder's path.
    ``HOSTS``: by host; of each host only the entry saved first, and ``place`` is the host.
    """

    SAVED = "saved"
    FOLDERS = "folders"
    HOSTS = "hosts"


@dataclass(frozen=True, slots=True)
class Heading:
    """Header of a list of entries.

    Attributes:
        title: the title.
        begun_at: the start of the export (aware, UTC).
        lists: the user's lists in order, if everything is exported.
    """

    title: str
    begun_at: datetime
    lists: tuple[EntryList, ...] = ()


class ListWriter(Protocol):
    """Writer of one list, entry by entry, in the order of its format."""

    def opening(self) -> str:
        """Return the text before the entries."""

    def item(self, exported: ExportedEntry, place: str) -> str:
        """Return the text of one entry."""

    def closing(self) -> str:
        """Return the text after the entries."""


@dataclass(frozen=True, slots=True)
class ListForm:
    """One list format.

    Attributes:
        writer: function that creates a writer for one list.
        order: the order of the entries.
        has_snapshots: whether the format includes snapshots.
    """

    writer: Callable[[Heading], ListWriter]
    order: Order = Order.SAVED
    has_snapshots: bool = False
