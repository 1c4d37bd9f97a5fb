"""Which importer reads a file: looked at, never guessed from the name alone."""

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from archiver.errors import UnreadableFile
from archiver.formats.importer import HEAD_BYTES, Importer
from archiver.formats.refusal import reason_to_refuse
from archiver.model.bookmark import Bookmark

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def open_with(
    importers: Iterable[Importer], source: BinaryIO, filename: str
) -> tuple[str, Iterator[Bookmark]]:
    """Let the first importer that recognises a file read it; returns its name too.

    Raises:
        UnreadableFile: the file is empty, or none recognises it.
    """
    head = _read_head(source)
    if not head.strip():
        raise UnreadableFile(
            f"{filename} is empty. Export your bookmarks again and give the new file."
        )
    for importer in importers:
        if importer.recognises(head, filename):
            whole = io.BufferedReader(_Rejoined(head, source), HEAD_BYTES)
            return importer.name, importer.read(whole)
    raise UnreadableFile(f"{filename} {reason_to_refuse(head, filename)}")


def _read_head(source: BinaryIO) -> bytes:
    """Read as much as is looked at; a pipe may give it in small pieces."""
    head = bytearray()
    while len(head) < HEAD_BYTES:
        piece = source.read(HEAD_BYTES - len(head))
        if not piece:
            break
        head += piece
    return bytes(head)


class _Rejoined(io.RawIOBase):
    """A stream whose head was read already, as one again."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = memoryview(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        target = memoryview(buffer)
        piece = self._head[: len(target)] or self._rest.read(len(target))
        self._head = self._head[len(piece) :]
        target[: len(piece)] = piece
        return len(piece)
