"""Which kind of archive file begins so: looked at, never guessed from a name."""

from enum import StrEnum
from io import BytesIO

from archiver.errors import ArchiverError
from archiver.warc import arc, foreign
from archiver.warc.unpacked import Unpacked
from archiver.warc.zstd_frames import DICTIONARY, FRAME


class ArchiveForm(StrEnum):
    """The forms of files of records."""

    WARC = "WARC"
    ARC = "ARC"


def recognise(head: bytes) -> ArchiveForm | None:
    """The form of a file, packed or plain, from its first bytes; None for any other."""
    try:
        content = Unpacked(BytesIO(head), foreign.BEGINS)
        while (line := content.next_line()) and not line.strip():
            pass
    except ArchiverError:
        # A dictionary, and a block of Zstandard's, are larger than what is looked at.
        return ArchiveForm.WARC if head.startswith((DICTIONARY, FRAME)) else None
    if foreign.BEGINS.match(line):
        return ArchiveForm.WARC
    return ArchiveForm.ARC if line.startswith(arc.FIRST) or arc.BEGINS.match(line) else None
