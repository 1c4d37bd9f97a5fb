"""Progress on standard error, when a person is looking at it."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module


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
    terminal = import_module("archiver.cli.terminal_bar")
    bar: AbstractContextManager[Bar] = terminal.shown(what)
    with bar as shown:
        yield shown
