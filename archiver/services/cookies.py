"""User cookies for the crawler.

Their values are never shown, logged, exported or written into WARC files.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from archiver.config import show_size
from archiver.db.engine import Database
from archiver.errors import InputError
from archiver.http.cookies import (
    MAX_BYTES,
    MAX_COOKIES,
    NAME,
    Cookie,
    cookies_in,
    parse_cookie_field,
    read_cookies,
    write_cookies,
)
from archiver.services.user_files import user_file

FOLLOW_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class CookieInfo:
    """A cookie without its value.

    Attributes:
        host: host that receives the cookie; with a leading dot, its subdomains receive it too.
        path: path prefix of the URLs that receive the cookie.
        name: name of the cookie.
        expires: expiry time in Unix seconds; 0 for a session cookie.
        is_secure: whether the cookie is sent only over TLS.
    """

    host: str
    path: str
    name: str
    expires: int
    is_secure: bool


@dataclass(frozen=True, slots=True)
class CookieImportResult:
    """Number of imported cookies, and the numbers of the rejected lines."""

    kept: int
    refused: Sequence[int]


class CookieSettings:
    """User cookies of an archive, stored in the data directory or on a database server.

    Args:
        data: the data directory.
        db: the index. If it is on a database server, it stores the cookies for all machines.
    """

    def __init__(self, data: Path, db: Database | None = None) -> None:
        self._file = user_file(data, NAME, db)

    async def follow(self, load: Callable[[bytes | None], None]) -> None:
        """Call ``load`` with the stored cookies now and within a second after each change."""
        version: object = self
        while True:
            if (now := await self._file.version()) != version:
                load(await self.content())
                version = now
            await asyncio.sleep(FOLLOW_SECONDS)

    async def content(self) -> bytes | None:
        """Return the cookies as a file in Netscape's format; None if there are none."""
        return await self._file.read()

    async def take(self, content: bytes) -> CookieImportResult:
        """Import cookies in Netscape format, replacing those with the same host, path and name.

        Raises:
            InputError: the file is too large, or contains no cookies.
        """
        if len(content) > MAX_BYTES:
            raise InputError(
                "The file is larger than {most}, so it cannot be a cookies.txt. Choose "
                "another file.",
                most=show_size(MAX_BYTES),
            )
        cookies, refused = read_cookies(content.decode("utf-8", "replace"))
        if not cookies:
            raise InputError(
                "The file contains no cookies. It must be a cookies.txt in Netscape format "
                "(seven fields per line, separated by tabs), as exported for curl or yt-dlp."
            )
        await self._change(lambda before: _merged(before, cookies))
        return CookieImportResult(len(cookies), tuple(refused))

    async def paste(self, text: str, host: str, *, is_secure: bool = True) -> CookieImportResult:
        """Import cookies in Netscape format, or as in the ``Cookie`` header of requests to a host.

        Raises:
            InputError: the text contains no cookies.
        """
        if "\t" in text:
            return await self.take(text.encode())
        pasted = parse_cookie_field(text, host, is_secure=is_secure)
        if not pasted:
            raise InputError(
                "These are not cookies. Paste them as name=value; name=value, or the text of a "
                "cookies.txt."
            )
        await self._change(lambda before: _merged(before, pasted))
        return CookieImportResult(len(pasted), ())

    async def list(self) -> list[CookieInfo]:
        """Return the cookies without their values, sorted by host and name."""
        named = map(_named, cookies_in(await self.content()))
        return sorted(named, key=lambda each: (each.host, each.name))

    async def remove(self, host: str, *, exactly: bool = False, must_exist: bool = True) -> int:
        """Remove the cookies of a host and its subdomains; return their number.

        Args:
            host: the host.
            exactly: whether to keep the cookies of subdomains.
            must_exist: whether it is an error if there are none.

        Raises:
            InputError: there are no such cookies.
        """
        cookie_host = host.strip().lower().removeprefix(".")
        removed: list[Cookie] = []

        def without(before: Sequence[Cookie]) -> list[Cookie]:
            removed.extend(
                each
                for each in before
                if each.host == cookie_host
                or (not exactly and each.host.endswith(f".{cookie_host}"))
            )
            return [each for each in before if each not in removed]

        await self._change(without)
        if not removed and must_exist:
            raise InputError("No cookies are stored for {host}.", host=host)
        return len(removed)

    async def _change(self, change: Callable[[Sequence[Cookie]], Sequence[Cookie]]) -> None:
        await self._file.change(lambda stored: write_cookies(change(cookies_in(stored))).encode())


def _merged(before: Sequence[Cookie], imported: Sequence[Cookie]) -> list[Cookie]:
    """Add cookies, replacing those with the same key; if there are too many, drop the oldest."""
    by_key = {each.key: each for each in (*before, *imported)}
    return [*by_key.values()][-MAX_COOKIES:]


def _named(cookie: Cookie) -> CookieInfo:
    dot = "." if cookie.is_for_subdomains else ""
    return CookieInfo(dot + cookie.host, cookie.path, cookie.name, cookie.expires, cookie.is_secure)
