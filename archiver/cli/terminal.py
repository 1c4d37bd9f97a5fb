"""Output, progress bars and confirmations."""

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from importlib import import_module

import click

from archiver.app import open_app
from archiver.config import Settings
from archiver.formats.json_output import to_document
from archiver.model.listing import ListingQuery, Summary
from archiver.model.message import counted

# Titles and texts come from untrusted pages: they must not move the cursor, ring the bell or break
# a row. The pattern matches C0 and C1 controls except tabs and line ends, line and paragraph
# separators, and bidirectional controls.
_UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def write_json(value: object) -> None:
    """Print one JSON value, indented."""
    sys.stdout.write(json.dumps(to_document(value), ensure_ascii=False, indent=2) + "\n")


def write_row(*fields: str) -> None:
    """Print one line of tab-separated fields; tabs and line ends in fields become spaces."""
    sys.stdout.write("\t".join(" ".join(clean(field).split()) for field in fields) + "\n")
    sys.stdout.flush()


Field = str | Sequence[tuple[str, bool]]
"""Cell of a table: a text, or pairs of a text and whether it is bold."""


def write_table(titles: Sequence[str], rows: Sequence[Sequence[Field]], empty: str = "") -> None:
    """Print rows on a terminal as a table with titles, elsewhere as tab-separated fields.

    ``empty`` is printed on standard error if there are no rows.
    """
    if not rows:
        note(empty)
    elif sys.stdout.isatty():
        # rich is slow to import, and not needed without a terminal.
        import_module("archiver.cli.rich_terminal").print_table(titles, rows)
    else:
        for row in rows:
            write_row(
                *(
                    each if isinstance(each, str) else "".join(text for text, _ in each)
                    for each in row
                )
            )


def note(message: str) -> None:
    """Print a message for people on standard error."""
    click.echo(f"archiver: {clean(message)}", err=True)


def ago(moment: datetime, now: datetime) -> str:
    """Return a time relative to ``now``, such as ``3 days ago``.

    A time that is more than 30 days ago, or in the future, is returned as a date.
    """
    seconds = (now - moment).total_seconds()
    for unit, length, limit in (("minute", 60, 60), ("hour", 3_600, 24), ("day", 86_400, 31)):
        count = int(seconds // length)
        if 0 <= count < limit:
            return f"{count} {unit}{'s' if count != 1 else ''} ago" if count else "now"
    return f"{moment:%Y-%m-%d}"


def write_text(text: str) -> None:
    """Print a text without its control characters."""
    sys.stdout.write(clean(text) + "\n")


def clean(text: str) -> str:
    """Remove control characters except line ends and tabs."""
    return _UNPRINTABLE.sub("", text)


class JsonArray:
    """JSON array that is printed item by item, so that it can be of any length."""

    def __init__(self) -> None:
        self._empty = True

    def add(self, value: object) -> None:
        """Print the next item on a separate line."""
        sys.stdout.write("[\n" if self._empty else ",\n")
        sys.stdout.write(json.dumps(to_document(value), ensure_ascii=False))
        self._empty = False

    def end(self) -> None:
        """Close the array."""
        sys.stdout.write("[]\n" if self._empty else "\n]\n")


class Bar:
    """Progress bar that shows nothing."""

    is_shown = False

    def show(self, *, done: float, total: float | None = None, now: str = "") -> None:
        """Update the progress.

        Args:
            done: amount done, in any unit.
            total: total amount; None if unknown.
            now: short description of the current item.
        """


@contextmanager
def progress_bar(what: str) -> Iterator[Bar]:
    """Show a bar while the block runs, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    # rich is slow to import, and not needed without a terminal.
    terminal = import_module("archiver.cli.rich_terminal")
    bar: AbstractContextManager[Bar] = terminal.shown(what)
    with bar as shown:
        yield shown


def confirm_search(settings: Settings, query: str | None, what: str) -> None:
    """Ask for confirmation if a search finds more than one entry.

    Without a terminal there is no confirmation.

    Args:
        settings: settings of the archive.
        query: the search; None if entries are named, which needs no confirmation.
        what: action, such as ``Delete``.

    Raises:
        click.Abort: the user declined.
    """
    if query and sys.stdin.isatty():
        found = asyncio.run(_summary(settings, query))
        if found.count > 1:
            click.confirm(_question(what, found), abort=True, err=True)


def print_undo(command: str, number: int) -> None:
    """Print the number with which a change can be undone; on a terminal, also print the command."""
    click.echo(f"undo\t{number}")
    if sys.stdout.isatty():
        click.echo(f"archiver: `archiver {command} --undo {number}` undoes this.", err=True)


async def _summary(settings: Settings, query: str) -> Summary:
    async with open_app(settings, reads_only=True) as app:
        return await app.search.summary(ListingQuery(q=query))


def _question(what: str, summary: Summary) -> str:
    more = "more than " if summary.has_more else ""
    return f"{what} {more}{counted('{count} entry', '{count} entries', count=summary.count)}?"
