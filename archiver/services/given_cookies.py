"""Cookies that a person gives to the crawl, for pages that know them: taken in, named, forgotten.

Their values are never shown, logged, exported or written into WARC files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from archiver.errors import InputError
from archiver.net.given_cookies import MOST_BYTES, CookieFile, cookies_in
from archiver.wire.cookies import MOST_COOKIES, Cookie, read_cookies


@dataclass(frozen=True, slots=True)
class NamedCookie:
    """A cookie without its value.

    Attributes:
        host: to which it goes; with a leading dot also to those beneath it.
        path: below which it goes.
        name: of it.
        expires: Unix seconds; 0 for one without an end.
        is_secure: whether it goes over TLS alone.
    """

    host: str
    path: str
    name: str
    expires: int
    is_secure: bool


@dataclass(frozen=True, slots=True)
class CookiesTaken:
    """What became of a file of cookies: how many are kept, and the lines that are none."""

    kept: int
    refused: Sequence[int]


class CookieKeeping:
    """The cookies of an archive. Blocking."""

    def __init__(self, data: Path) -> None:
        self._file = CookieFile(data)

    def take(self, content: bytes) -> CookiesTaken:
        """Keep the cookies of a file in Netscape's format, in the place of those alike.

        Raises:
            InputError: it is too large, or holds none.
        """
        if len(content) > MOST_BYTES:
            raise InputError(
                "A file of more than {most} bytes is no file of cookies.", most=MOST_BYTES
            )
        found, refused = read_cookies(content.decode("utf-8", "replace"))
        if not found:
            raise InputError(
                "There is no cookie in this file. It is to be a cookies.txt in Netscape's format: "
                "seven fields to a line, between tabs, as curl and yt-dlp read it."
            )
        self._file.change(lambda before: _merged(before, found))
        return CookiesTaken(len(found), tuple(refused))

    def list(self) -> list[NamedCookie]:
        """What is kept, by host and name, without values."""
        return _by_host(self._file.read())

    def remove(self, host: str) -> int:
        """Forget the cookies of a host and those beneath it; how many that were.

        Raises:
            InputError: there is none of it.
        """
        wanted = host.strip().lower().removeprefix(".")
        gone: list[Cookie] = []

        def without(before: list[Cookie]) -> list[Cookie]:
            gone.extend(each for each in before if _is_of(each.host, wanted))
            return [each for each in before if each not in gone]

        self._file.change(without)
        if not gone:
            raise InputError("No cookie is kept for {host}.", host=host)
        return len(gone)


def named_in(content: bytes | None) -> list[NamedCookie]:
    """What such a file holds, by host and name, without values."""
    return _by_host(cookies_in(content))


def _merged(before: Sequence[Cookie], found: Sequence[Cookie]) -> list[Cookie]:
    """Both, the later in the place of the earlier of the same name; the newest, if too many."""
    by_key = {each.key: each for each in (*before, *found)}
    return [*by_key.values()][-MOST_COOKIES:]


def _is_of(host: str, wanted: str) -> bool:
    return host == wanted or host.endswith(f".{wanted}")


def _by_host(found: Sequence[Cookie]) -> list[NamedCookie]:
    return sorted(map(_named, found), key=lambda each: (each.host, each.name))


def _named(cookie: Cookie) -> NamedCookie:
    dot = "." if cookie.is_for_subdomains else ""
    return NamedCookie(
        dot + cookie.host, cookie.path, cookie.name, cookie.expires, cookie.is_secure
    )
