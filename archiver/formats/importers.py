"""Every import format, and finding out which of them a file is in."""

from collections.abc import Iterator
from typing import BinaryIO

from archiver.errors import UnreadableFile
from archiver.formats.any_json import ANY_JSON
from archiver.formats.any_table import ANY_TABLE
from archiver.formats.any_xml import ANY_XML
from archiver.formats.given_file import GivenFile, Spool, in_memory
from archiver.formats.importer import Importer
from archiver.formats.mhtml import MHTML
from archiver.formats.netscape import NETSCAPE
from archiver.formats.plain_text import PLAIN_TEXT
from archiver.formats.refusal import reason_to_refuse
from archiver.model.bookmark import Bookmark

IMPORTERS: tuple[Importer, ...] = (
    MHTML,
    ANY_XML,
    NETSCAPE,
    ANY_JSON,
    ANY_TABLE,
    PLAIN_TEXT,
)
"""Asked in this order; the first that recognises a file reads it."""


def open_bookmarks(
    source: BinaryIO, filename: str, *, spool: Spool = in_memory
) -> tuple[str, Iterator[Bookmark]]:
    """Find out what a file is and begin to read it.

    Args:
        source: read from where it stands, once; it need not be seekable.
        filename: as the person knows it; used in messages and as a hint.
        spool: makes a stream seekable, where its kind needs that.

    Returns:
        The name of the format, and the bookmarks in the order of the file. The iterator reads
        ``source`` as it goes; it does not close it.

    Raises:
        UnreadableFile: the file is empty, or of a kind that is not read; the message says what
            to do instead.
    """
    file = GivenFile(source, filename, spool=spool)
    importer = importer_of(file)
    return importer.name, importer.read(file)


def importer_of(file: GivenFile) -> Importer:
    """What reads a file: looked at, never guessed from its name alone.

    Raises:
        UnreadableFile: it is empty, or nothing does.
    """
    if not file.head.strip():
        raise UnreadableFile(
            f"{file.name} is empty. Export your bookmarks again and give the new file."
        )
    found = next((each for each in IMPORTERS if each.recognises(file)), None)
    if found is None:
        raise UnreadableFile(f"{file.name} {reason_to_refuse(file)}")
    return found
