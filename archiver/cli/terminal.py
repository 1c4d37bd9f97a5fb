"""Output, progress bars and confirmations."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module

import click

from archiver.app import open_app
from archiver.cli.event_loop import run_until_signal
from archiver.config import Settings
from archiver.formats.json_output import to_document
from archiver.model.listing import ListingQuery, Summary
from archiver.model.message import counted

# Titles and texts come from pages: none of them may move the cursor, ring the bell or break a
# row. C0 and C1 controls, line and paragraph separators, and the marks that turn text around.
_UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def write_json(value: object) -> None:
    """Print one JSON value, indented."""
    sys.stdout.write(json.dumps(to_document(value), ensure_ascii=False, indent=2) + "\n")


def write_row(*fields: str) -> None:
    """Print one line: fields separated by tabs, none of which holds a tab or an end of line."""
    sys.stdout.write("\t".join(" ".join(clean(field).split()) for field in fields) + "\n")
    sys.stdout.flush()


def write_text(text: str) -> None:
    """Print text of any length."""
    sys.stdout.write(clean(text) + "\n")


def clean(text: str) -> str:
    """Take out what a terminal would act on; line ends and tabs stay."""
    return _UNPRINTABLE.sub("", text)


class JsonArray:
    """Prints a JSON array as its items come, so that it can be as long as it likes."""

    def __init__(self) -> None:
        self._empty = True

    def add(self, value: object) -> None:
        """Print the next item, on a line of its own."""
        sys.stdout.write("[\n" if self._empty else ",\n")
        sys.stdout.write(json.dumps(to_document(value), ensure_ascii=False))
        self._empty = False

    def end(self) -> None:
        """Close the array."""
        sys.stdout.write("[]\n" if self._empty else "\n]\n")


class Bar:
    """One line that says how far something has come; this one is not shown."""

    is_shown = False

    def show(self, *, done: float, total: float | None = None, now: str = "") -> None:
        """Say where it stands.

        Args:
            done: of ``total``, in any unit.
            total: None while it is not known.
            now: what is being done, in a few words.
        """


@contextmanager
def progress_bar(what: str) -> Iterator[Bar]:
    """Show a bar while the block runs; nothing at all unless standard error is a terminal."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    # What draws it is large, and most commands run without anybody looking.
    terminal = import_module("archiver.cli.progress_bar")
    bar: AbstractContextManager[Bar] = terminal.shown(what)
    with bar as shown:
        yield shown


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
