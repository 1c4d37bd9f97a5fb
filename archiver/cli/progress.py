"""Progress on standard error, when a person is looking at it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from archiver.cli.output import clean

_WIDTH = 60


class Bar:
    """One line that says how far something has come."""

    def __init__(self, progress: Progress, what: str) -> None:
        self._progress = progress
        self._task = progress.add_task(what, total=None, now="")

    def show(self, *, done: float, total: float | None = None, now: str = "") -> None:
        """Say where it stands.

        Args:
            done: of ``total``, in any unit.
            total: None while it is not known.
            now: what is being done, in a few words.
        """
        self._progress.update(self._task, completed=done, total=total, now=clean(now)[:_WIDTH])


@contextmanager
def progress_bar(what: str) -> Iterator[Bar]:
    """Show a bar while the block runs; nothing at all unless standard error is a terminal."""
    console = Console(stderr=True)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:>3.0f}%", markup=False),
        TimeRemainingColumn(),
        TextColumn("{task.fields[now]}", markup=False),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        # Lines for a file or a pipe must not be led into the terminal.
        redirect_stdout=sys.stdout.isatty(),
    )
    with progress:
        yield Bar(progress, what)
