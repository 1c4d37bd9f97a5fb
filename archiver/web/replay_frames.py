"""Replay frames.

Each banner has a random number, which is part of the signed access token in the frame's address.
Links and redirects inherit it, frames within the page do not. Kept in memory, for the most recently
opened banners.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from secrets import token_hex

from archiver.model.capture import Timestamp
from archiver.replay.addresses import ReplayAddress

MOST = 1000


@dataclass(frozen=True, slots=True)
class Shown:
    """A memento, or an address without a memento if the timestamp is empty.

    Attributes:
        wanted: the address requested without an access token, which the banner's page may issue.
        has_form: whether the page contains a form, which cannot be sent.
    """

    url: str
    timestamp: Timestamp | None = None
    wanted: ReplayAddress | None = None
    has_form: bool = False


class ShownBelow:
    """The last request below each banner."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, Shown] = OrderedDict()

    def new(self) -> str:
        """Return a number for a banner: 16 hexadecimal digits."""
        return token_hex(8)

    def note(self, banner: str, shown: Shown) -> None:
        """Record what a banner's frame requested."""
        self._shown[banner] = shown
        self._shown.move_to_end(banner)
        while len(self._shown) > MOST:
            self._shown.popitem(last=False)

    def note_form(self, banner: str, shown: Shown) -> None:
        """Record that the page contains a form, unless the frame requested another page since."""
        if self._shown.get(banner) == shown:
            self._shown[banner] = replace(shown, has_form=True)

    def of(self, banner: str) -> Shown | None:
        """Return the last request of a banner's frame; None if it is unknown."""
        return self._shown.get(banner)
