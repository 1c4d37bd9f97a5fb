"""``archiver cookies``."""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.services.given_cookies import CookieKeeping, NamedCookie, named_in
from archiver.services.shared_copies import shared_cookies

_MOST = (16 << 20) + 1
_NEVER = "-"


def run(settings: Settings, *, file: Path | None = None, remove: str = "") -> int:
    """Take a file in, forget a host, or list what is kept."""
    if file is None and not remove:
        return run_until_signal(_list(settings))
    content = None if file is None else _content(file)
    if settings.index:
        return run_until_signal(_change_there(settings, content, remove))
    return _change(settings, content, remove)


async def _list(settings: Settings) -> int:
    for each in await _kept(settings):
        write_row(each.host, each.path, each.name, _day(each.expires))
    return 0


async def _kept(settings: Settings) -> list[NamedCookie]:
    """What is kept; who only asks waits for no writer, and changes no copy."""
    if not settings.index:
        return CookieKeeping(settings.data).list()
    async with open_app(settings, reads_only=True) as app:
        shared = shared_cookies(settings, app.db)
        return named_in(await shared.read())


async def _change_there(settings: Settings, content: bytes | None, remove: str) -> int:
    """With the index, for every machine."""
    async with (
        open_app(settings, reads_only=True) as app,
        shared_cookies(settings, app.db).changing(),
    ):
        return await asyncio.to_thread(_change, settings, content, remove)


def _change(settings: Settings, content: bytes | None, remove: str) -> int:
    keeping = CookieKeeping(settings.data)
    if content is not None:
        taken = keeping.take(content)
        write_row("kept", str(taken.kept))
        if taken.refused:
            lines = ", ".join(map(str, taken.refused[:10]))
            click.echo(f"No cookies, or too many: lines {lines}.", err=True)
    else:
        write_row("removed", str(keeping.remove(remove)))
    return 0


def _content(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read(_MOST)
    with file.open("rb") as opened:
        return opened.read(_MOST)


def _day(expires: int) -> str:
    try:
        return datetime.fromtimestamp(expires, UTC).date().isoformat() if expires else _NEVER
    except (OverflowError, ValueError, OSError):
        return _NEVER
