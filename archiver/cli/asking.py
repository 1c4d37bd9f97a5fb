"""Asks before much is changed at once, where somebody sits at a terminal."""

import sys

import click

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.config import Settings
from archiver.model.listing import ListingQuery, Summary
from archiver.model.message import counted


def ask_about(settings: Settings, query: str | None, what: str) -> None:
    """Ask whether all that a search finds is meant, if that is more than one entry.

    A program that calls this one is not asked: it can't answer.

    Args:
        settings: of the archive.
        query: what is searched for; nothing is asked where entries are named.
        what: happens to them, as ``Delete``.

    Raises:
        click.Abort: it is not.
    """
    if query and sys.stdin.isatty():
        found: list[Summary] = []
        run_until_signal(_look(settings, query, found))
        for each in found:
            if each.count > 1:
                click.confirm(_question(what, each), abort=True, err=True)


def tell_undo(command: str, number: int) -> None:
    """Print by which number it is undone, and to somebody at a terminal how."""
    click.echo(f"undo\t{number}")
    if sys.stdout.isatty():
        click.echo(f"archiver: `archiver {command} --undo {number}` puts it back.", err=True)


async def _look(settings: Settings, query: str, found: list[Summary]) -> int:
    async with open_app(settings, reads_only=True) as app:
        search = app.search
        found.append(await search.summary(ListingQuery(q=query)))
    return 0


def _question(what: str, found: Summary) -> str:
    more = "more than " if found.has_more else ""
    return f"{what} {more}{counted('{count} entry', '{count} entries', count=found.count)}?"
