"""``archiver cookies``."""

import asyncio
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.reading import open_to_read
from archiver.services.given_cookies import CookieKeeping
from archiver.services.shared_copies import shared_cookies

_MOST = (16 << 20) + 1
_NEVER = "-"


def run(settings: Settings, *, file: Path | None = None, remove: str = "") -> int:
    """Take a file in, forget a host, or list what is kept."""
    content = None if file is None else _content(file)
    if settings.index:
        return run_until_signal(_run_there(settings, content, remove))
    return _run(settings, content, remove)


async def _run_there(settings: Settings, content: bytes | None, remove: str) -> int:
    """With the index, for every machine."""
    async with (
        open_to_read(settings, partial(shared_cookies, settings)) as shared,
        shared.changing(),
    ):
        return await asyncio.to_thread(_run, settings, content, remove)


def _run(settings: Settings, content: bytes | None, remove: str) -> int:
    keeping = CookieKeeping(settings.data)
    if content is not None:
        taken = keeping.take(content)
        write_row("kept", str(taken.kept))
        if taken.refused:
            lines = ", ".join(map(str, taken.refused[:10]))
            click.echo(f"No cookies, or too many: lines {lines}.", err=True)
    elif remove:
        write_row("removed", str(keeping.remove(remove)))
    else:
        for each in keeping.list():
            write_row(each.host, each.path, each.name, _day(each.expires))
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
