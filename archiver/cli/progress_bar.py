"""Progress bar of a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from archiver.cli.terminal import Bar, clean

_WIDTH = 60


class TerminalBar(Bar):
    """Progress bar of rich."""

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
