"""``archiver extract``."""

from collections.abc import Iterable, Iterator

from archiver.app import open_app
from archiver.cli.crawl_loop import run_crawl
from archiver.cli.output import write_row, write_text
from archiver.cli.progress import progress_bar
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.comparison import Piece, Side
from archiver.model.listing import ListingQuery
from archiver.services.rereading import Revision

_MARKS = {Side.BEFORE: ("[-", "-]"), Side.AFTER: ("{+", "+}")}
"""As ``git diff --word-diff`` has them."""
STOPPED = "Stopped. What was not read is still left: `archiver extract` goes on with it."
STOPPED_AGAIN = "Stopped. What was read again is kept: the same command goes on with the rest."


def run(settings: Settings, *, again: bool, query: str, diff: bool) -> int:
    """Read the articles that were left for later, or again those that an older version read."""
    if (query or diff) and not again:
        raise InputError("--query and --diff are for --again: say that, too.")
    if again:
        return run_crawl(_again(settings, query, diff=diff), stopped=STOPPED_AGAIN)
    return run_crawl(_extract(settings), stopped=STOPPED)


async def _extract(settings: Settings) -> int:
    async with open_app(settings) as runtime:
        total = await runtime.articles.left()
        read = 0
        with progress_bar("Reading") as bar:

            def on_read(url: str) -> None:
                nonlocal read
                read += 1
                bar.show(done=read, total=total, now=url)

            await runtime.articles.read_all(on_read)
        left = await runtime.articles.left()
    write_row("read", str(read))
    write_row("left", str(left))
    return 1 if left else 0


async def _again(settings: Settings, query: str, *, diff: bool) -> int:
    read = changed = 0
    async with open_app(settings) as runtime:
        wanted = ListingQuery(q=query) if query else None
        with progress_bar("Reading") as bar:
            async for each in runtime.rereading.read_all(wanted):
                read += 1
                bar.show(done=read, now=each.snapshot.url)
                if not each.change.is_same:
                    changed += 1
                    for line in _lines_of(each, diff=diff):
                        write_text(line)
    write_row("read", str(read))
    write_row("changed", str(changed))
    return 0


def _lines_of(revision: Revision, *, diff: bool) -> Iterator[str]:
    kept, change = revision.snapshot, revision.change
    yield f"{kept.timestamp}\t+{change.put_in}\t-{change.taken_out}\t{kept.url}"
    if diff:
        yield from changed_lines(change.pieces)


def changed_lines(pieces: Iterable[Piece]) -> Iterator[str]:
    """The paragraphs that are not what they were, with what was taken out and put in marked."""
    line, is_changed = "", False
    for piece in pieces:
        before, after = _MARKS.get(piece.side, ("", ""))
        for part in piece.text.splitlines(keepends=True):
            words = part.rstrip("\n")
            line += f"{before}{words}{after}" if words.strip() else words
            is_changed |= piece.side is not Side.BOTH
            if part.endswith("\n"):
                if is_changed and line.strip():
                    yield line
                line, is_changed = "", False
    if is_changed:
        yield line
