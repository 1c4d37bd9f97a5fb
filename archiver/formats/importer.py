"""What a reader of one kind of bookmark list offers."""

from collections.abc import Iterator
from typing import BinaryIO, Protocol

from archiver.model.bookmark import Bookmark

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell what it is."""


class Importer(Protocol):
    """One kind of file."""

    @property
    def name(self) -> str:
        """What a person calls this kind of file, such as ``Netscape HTML``."""

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether a file of this name that starts with ``head`` is of this kind."""

    def read(self, source: BinaryIO) -> Iterator[Bookmark]:
        """Read to the end, once: constant memory, linear time, no error whatever the bytes."""
