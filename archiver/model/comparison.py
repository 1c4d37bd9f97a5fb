"""Two texts held against each other: what stands in one and not in the other."""

from dataclasses import dataclass
from enum import StrEnum


class Side(StrEnum):
    """Which of two texts a piece is of."""

    BOTH = "both"
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, and which of two texts has it."""

    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts held against each other.

    Attributes:
        pieces: in order; those of ``BOTH`` and ``BEFORE`` are the earlier text, paragraphs being
            lines.
        put_in, taken_out: how many words.
        words: how many words the longer text has.
        is_whole: whether all of both was compared.
    """

    pieces: tuple[Piece, ...]
    put_in: int
    taken_out: int
    words: int
    is_whole: bool = True

    @property
    def is_same(self) -> bool:
        """Whether the texts say the same."""
        return all(each.side is Side.BOTH for each in self.pieces)
