"""Tables and progress bars in a terminal."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from archiver.cli.terminal import Bar, Field, clean

_WIDTH = 60
_NARROW = 24
"""Width in characters up to which a column is never cut."""
_STYLES = {"failed": "red", "queued": "yellow", "link": "blue"}


def print_table(titles: Sequence[str], rows: Sequence[Sequence[Field]]) -> None:
    """Print aligned columns; if they don't fit into the terminal, wide columns are cut."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    cells = [[*map(_text, row)] for row in rows]
    for title, column in zip(titles, zip(*cells, strict=True), strict=True):
        width = max(each.cell_len for each in column)
        table.add_column(
            title, no_wrap=True, overflow="ellipsis", min_width=width if width <= _NARROW else None
        )
    for row in cells:
        table.add_row(*row)
    Console().print(table)


def _text(field: Field) -> Text:
    """Return a table cell; ``field`` is a string, or pairs of a text and whether it is bold."""
    if isinstance(field, str):
        return Text(_one_line(field), _STYLES.get(field, ""))
    return Text.assemble(*((_one_line(text), "bold" if bold else "") for text, bold in field))


def _one_line(text: str) -> str:
    return " ".join(clean(text).splitlines())


class TerminalBar(Bar):
    """Progress bar that is drawn by rich."""

    is_shown = True

    def __init__(self, progress: Progress, what: str) -> None:
        self._progress = progress
        self._task = progress.add_task(what, total=None, now="")

    def show(self, *, done: float, total: float | None = None, now: str = "") -> None:
        """Redraw the bar."""
        self._progress.update(self._task, completed=done, total=total, now=clean(now)[:_WIDTH])


@contextmanager
def shown(what: str) -> Iterator[Bar]:
    """Show a bar while the block runs."""
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:>3.0f}%", markup=False),
        TimeRemainingColumn(),
        TextColumn("{task.fields[now]}", markup=False),
        console=Console(stderr=True),
        transient=True,
        # Output to a file or pipe must not be redirected to the terminal.
        redirect_stdout=sys.stdout.isatty(),
    )
    with progress:
        yield TerminalBar(progress, what)
