"""Every import format, and finding out which of them a file is in."""

from collections.abc import Iterator
from typing import BinaryIO

from archiver.formats.detect import open_with
from archiver.formats.importer import Importer
from archiver.formats.netscape import NetscapeHtml
from archiver.formats.plain_text import PlainText
from archiver.model.bookmark import Bookmark

IMPORTERS: tuple[Importer, ...] = (
    NetscapeHtml(),
    PlainText(),
)
"""Asked in this order; the first that recognises a file reads it."""


def open_bookmarks(source: BinaryIO, filename: str) -> tuple[str, Iterator[Bookmark]]:
    """Find out what a file is and begin to read it.

    Args:
        source: read from where it stands, once; it need not be seekable.
        filename: as the person knows it; used in messages and as a hint.

    Returns:
        The name of the format, and the bookmarks in the order of the file. The iterator reads
        ``source`` as it goes; it does not close it.

    Raises:
        UnreadableFile: the file is empty, or of a kind that is not read; the message says what
            to do instead.
    """
    return open_with(IMPORTERS, source, filename)
