"""Replay frames.

Each banner has a number by chance, which the address of its frame bears, signed with the rest of
the permission, and hands on to links and redirects, never to frames within the page. Kept in
memory, for the banners that were opened last.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from secrets import token_hex

from archiver.model.capture import Timestamp
from archiver.replay.addresses import ReplayAddress

MOST = 1000


@dataclass(frozen=True, slots=True)
class Shown:
    """A memento, or, without a timestamp, an address of which there is none.

    Attributes:
        wanted: what was asked for without the permission to see it, which who is above may give.
        has_form: there is a form in it, which nobody can send.
    """

    url: str
    timestamp: Timestamp | None = None
    wanted: ReplayAddress | None = None
    has_form: bool = False


class ShownBelow:
    """What was asked for last below each banner."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, Shown] = OrderedDict()

    def new(self) -> str:
        """A number for a banner: 16 hexadecimal digits."""
        return token_hex(8)

    def note(self, banner: str, shown: Shown) -> None:
        """Note what its frame asks for."""
        self._shown[banner] = shown
        self._shown.move_to_end(banner)
        while len(self._shown) > MOST:
            self._shown.popitem(last=False)

    def note_form(self, banner: str, shown: Shown) -> None:
        """Note that there is a form in it, if the frame asked for nothing else since."""
        if self._shown.get(banner) == shown:
            self._shown[banner] = replace(shown, has_form=True)

    def of(self, banner: str) -> Shown | None:
        """What its frame asked for last; None where nobody knows any more."""
        return self._shown.get(banner)
