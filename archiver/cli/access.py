"""Commands for passwords and cookies."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from archiver.app import App, open_app
from archiver.cli.event_loop import run_until_signal
from archiver.cli.terminal import write_row, write_table
from archiver.config import Settings
from archiver.services.access import AccessControl
from archiver.services.cookies import CookieSettings


def password(settings: Settings, *, remove: bool) -> int:
    """Set or remove the password."""
    new = None if remove else _ask()
    return run_until_signal(_set(settings, new))


def _ask() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("New password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().removesuffix("\n").removesuffix("\r")


@asynccontextmanager
async def _on_server(settings: Settings) -> AsyncIterator[App | None]:
    """Open an archive whose password and cookies are on a database server.

    Yield None if they are in files, for which the archive need not be opened.
    """
    if not settings.index:
        yield None
        return
    async with open_app(settings, reads_only=True) as app:
        yield app


async def _set(settings: Settings, new: str | None) -> None:
    async with _on_server(settings) as app:
        access = app.access if app else AccessControl(settings.data, settings.password)
        await (access.remove_password() if new is None else access.set_password(new))
    click.echo("Password removed." if new is None else "Password set.")


_MAX_BYTES = (16 << 20) + 1
_NEVER = "-"


def cookies(settings: Settings, *, file: Path | None = None, remove: str = "") -> int:
    """Import cookies from a file, remove those of a host, or list all."""
    content = None if file is None else _content(file)
    return run_until_signal(_change(settings, content, remove))


async def _change(settings: Settings, content: bytes | None, remove: str) -> None:
    async with _on_server(settings) as app:
        stored = app.cookie_settings if app else CookieSettings(settings.data)
        await _change_stored(stored, content, remove)


async def _change_stored(cookies: CookieSettings, content: bytes | None, remove: str) -> None:
    if content is not None:
        result = await cookies.take(content)
        write_row("imported", str(result.kept))
        if result.refused:
            lines = ", ".join(map(str, result.refused[:10]))
            click.echo(
                f"Skipped lines {lines}: they are not cookies, or exceed the limit.", err=True
            )
    elif remove:
        write_row("removed", str(await cookies.remove(remove)))
    else:
        stored = await cookies.list()
        rows = [(each.host, each.path, each.name, _day(each.expires)) for each in stored]
        write_table(("host", "path", "name", "expires"), rows, "no cookies.")


def _content(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read(_MAX_BYTES)
    with file.open("rb") as opened:
        return opened.read(_MAX_BYTES)


def _day(expires: int) -> str:
    try:
        return datetime.fromtimestamp(expires, UTC).date().isoformat() if expires else _NEVER
    except (OverflowError, ValueError, OSError):
        return _NEVER
