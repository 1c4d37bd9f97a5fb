"""Where a snapshot came from that its site did not send us."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Way(StrEnum):
    """How it came."""

    RESCUED = "rescued"
    HANDED_IN = "handed-in"
    FROM_FILE = "from-file"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a snapshot came from.

    Attributes:
        way: how it came.
        source: the memento of another archive, or the name and format of a file.
        at: when it came (aware, UTC), where that is known.
    """

    way: Way
    source: str
    at: datetime | None = None

    @property
    def name(self) -> str:
        """The archive's host, or the file."""
        return self.source.split("/", 3)[2] if self.way is Way.RESCUED else self.source
