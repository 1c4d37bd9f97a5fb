"""Interface of list writers."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from archiver.model.entry import ExportedEntry
from archiver.model.entry_list import EntryList


class Order(StrEnum):
    """In which order entries are written, and what the place of each is.

    ``SAVED``: as they came into the archive; all are in one place, ``""``. ``FOLDERS``: folder by
    folder in the order of each, an entry in every one of its own; the place is the folder's path.
    ``HOSTS``: host by host, by an entry of each; the place is the host.
    """

    SAVED = "saved"
    FOLDERS = "folders"
    HOSTS = "hosts"


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a list of entries.

    Attributes:
        title: of it.
        begun_at: when it was begun (aware, UTC).
        lists: those that a person keeps, in their order, where it is of everything.
    """

    title: str
    begun_at: datetime
    lists: tuple[EntryList, ...] = ()


class ListWriter(Protocol):
    """Writes one list, entry by entry, in the order of its format."""

    def opening(self) -> str:
        """What comes before the entries."""

    def item(self, exported: ExportedEntry, place: str) -> str:
        """One entry."""

    def closing(self) -> str:
        """What comes behind them."""


@dataclass(frozen=True, slots=True)
class ListForm:
    """One format of lists.

    Attributes:
        writer: creates a writer for one list.
        order: of the entries.
        has_snapshots: whether it lists snapshots.
    """

    writer: Callable[[Heading], ListWriter]
    order: Order = Order.SAVED
    has_snapshots: bool = False
