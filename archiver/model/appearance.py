"""What was seen of a page as it was kept, and how well that is: a score with its reasons."""

from dataclasses import dataclass

from archiver.model.limit import Limit
from archiver.model.message import Message

WHOLE = 100
"""The best score: a score is counted in hundredths."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """What tells how whole a page is, beside its requisites.

    Attributes:
        readable: characters that can be read, counted up to 600; None where it is no HTML page.
        source: characters of its source.
        is_error: whether it says that it is an error, whatever its status.
        is_cut: whether it broke off before its end.
        picture: how much of it looks without scripts as in the browser that showed it, in
            hundredths; None where none did, or nobody compared.
        words: how many of its words stand there without scripts, the same way.
        limits: what kept a browser from showing all of it.
    """

    readable: int | None = None
    source: int = 0
    is_error: bool = False
    is_cut: bool = False
    picture: int | None = None
    words: int | None = None
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a snapshot is not whole: a sentence, and what that costs, in hundredths."""

    message: Message
    cost: int

    @property
    def sentence(self) -> str:
        """The sentence in English."""
        return str(self.message)


@dataclass(frozen=True, slots=True)
class Score:
    """How well a page was kept: in percent, and what it lacks to be whole."""

    hundredths: int
    reasons: tuple[Reason, ...] = ()

    def __str__(self) -> str:
        return f"{self.hundredths}%"
