"""Files without a name, for what is too long to be held in memory."""

from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import BinaryIO, cast

PREFIX = "archiver-"


def scratch_file() -> BinaryIO:
    """A file that is gone once it is closed, or its process ends."""
    return cast("BinaryIO", TemporaryFile(prefix=PREFIX))


def spooled_file(held_bytes: int) -> BinaryIO:
    """A file in memory, which goes to disk once it is longer than so many bytes."""
    return cast("BinaryIO", SpooledTemporaryFile(held_bytes, prefix=PREFIX))
