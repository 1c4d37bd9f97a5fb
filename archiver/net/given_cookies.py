"""The cookies that a person gave to the crawl: a file of their own, beside the archive."""

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from archiver.kept_file import KeptFile, Mark
from archiver.wire.cookies import Cookie, cookies_for, read_cookies

NAME: Final = "cookies.txt"
MOST_BYTES: Final = 16 << 20
LOOK_SECONDS: Final = 1.0
"""So much later another process's change is heard of."""


def cookies_in(content: bytes | None) -> list[Cookie]:
    """What such a file holds; none where there is no file."""
    return read_cookies(content.decode("utf-8", "replace"))[0] if content else []


class GivenCookies:
    """Selects the user's cookies for a request.

    Args:
        data: the data directory, whose ``cookies.txt`` is read again within a second after a
            change; None if the owner passes the content to ``hold``.
        clock: for tests.
    """

    def __init__(self, data: Path | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = KeptFile(data / NAME) if data else None
        self._clock = clock
        self._mark: Mark | None = None
        self._cookies: list[Cookie] = []
        self._looked_at = -LOOK_SECONDS

    def hold(self, content: bytes | None) -> None:
        """Use the cookies of this file content from now on."""
        self._cookies = cookies_in(content)

    def field_for(self, url: str, led_by: Collection[str]) -> str:
        """The ``Cookie`` field for a request; empty where none goes with it.

        Args:
            url: that is requested.
            led_by: the hosts that led to it, from the one that a person asked.
        """
        if self._file and self._clock() >= self._looked_at + LOOK_SECONDS:
            self._looked_at = self._clock()
            mark = self._file.mark()  # one look at a folder: it costs no more than a request's URL
            if mark != self._mark:
                self._mark = mark
                self.hold(self._file.read(MOST_BYTES))
        return cookies_for(url, self._cookies, time.time(), led_by) if self._cookies else ""
