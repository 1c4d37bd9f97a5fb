"""The cookies that a person gave to the crawl: a file of their own, beside the archive."""

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from archiver.kept_file import KeptFile, Mark
from archiver.wire.cookies import Cookie, cookies_for, read_cookies, write_cookies

NAME: Final = "cookies.txt"
MOST_BYTES: Final = 16 << 20
LOOK_SECONDS: Final = 1.0
"""So much later another process's change is heard of."""


class CookieFile:
    """``cookies.txt`` of an archive, mode 0600. Blocking.

    Args:
        data: directory of the archive.
    """

    def __init__(self, data: Path) -> None:
        self._file = KeptFile(data / NAME)

    def mark(self) -> Mark | None:
        """What the file looks like from outside; None if there is none."""
        return self._file.mark()

    def read(self) -> list[Cookie]:
        """What it holds; none where there is no file."""
        return cookies_in(self._file.read(MOST_BYTES))

    def change(self, change: Callable[[list[Cookie]], list[Cookie]]) -> list[Cookie]:
        """Write what ``change`` makes of what it holds, and say what that is."""
        with self._file.alone():
            after = change(self.read())
            self._file.write(write_cookies(after).encode())
        return after


def cookies_in(content: bytes | None) -> list[Cookie]:
    """What such a file holds; none where there is no file."""
    return read_cookies(content.decode("utf-8", "replace"))[0] if content else []


class GivenCookies:
    """Says which of them go with a request; a change is heard of within a second.

    ``clock`` is for tests.
    """

    def __init__(self, data: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = CookieFile(data)
        self._clock = clock
        self._mark: Mark | None = None
        self._cookies: list[Cookie] = []
        self._looked_at = -LOOK_SECONDS

    def field_for(self, url: str, led_by: Collection[str]) -> str:
        """The ``Cookie`` field for a request; empty where none goes with it.

        Args:
            url: that is requested.
            led_by: the hosts that led to it, from the one that a person asked.
        """
        if self._clock() >= self._looked_at + LOOK_SECONDS:
            self._looked_at = self._clock()
            mark = self._file.mark()  # one look at a folder: it costs no more than a request's URL
            if mark != self._mark:
                self._mark, self._cookies = mark, self._file.read()
        return cookies_for(url, self._cookies, time.time(), led_by) if self._cookies else ""
