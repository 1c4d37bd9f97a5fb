"""What a tar archive holds (POSIX ustar and pax, GNU's long names): read where it lies.

As of zip archives, a member's name is only ever shown. The standard library's reader has no bounds:
it takes what is said of a member into memory whatever its length, and looks through it in
quadratic time; it goes as deep as heads are said of heads, and keeps every head.
"""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from archiver.formats.zip_members import MOST_MEMBERS

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BLOCK = 512
_MAGIC = slice(257, 262)
_SUM = slice(148, 156)
_BINARY, _BELOW_NOTHING = 0x80, 0xFF
"""First bytes of numbers that have too many digits to be written in octal ones, as GNU has them."""
_FILES = frozenset({b"0", b"\0", b"7"})
_WITHOUT_CONTENT = frozenset({b"1", b"2", b"3", b"4", b"5", b"6"})
_PAX, _GNU_NAME = b"x", b"L"
_OF_THE_NEXT = frozenset({_PAX, _GNU_NAME, b"K"})
_MOST_HEADS = 2 * MOST_MEMBERS
_MOST_SAID = 1 << 20
"""Bytes read of what is said of a member in a head of its own."""
_MOST_SIZE = 1 << 48
_MOST_DIGITS = 12


class _Head(NamedTuple):
    """What a block says of what follows it."""

    name: str
    kind: bytes
    start: int
    size: int

    @property
    def end(self) -> int:
        """Where the next one stands."""
        return self.start + -(-self.size // _BLOCK) * _BLOCK


def is_tar(head: bytes) -> bool:
    """Whether a file that begins so is a tar archive."""
    return head[_MAGIC] == b"ustar"


class TarMembers:
    """The plain files in a tar archive; what is damaged ends early.

    Attributes:
        names: of its files, in order, without a leading ``./``.

    Args:
        stream: the archive, to be sought in.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._found = {each.name.removeprefix("./"): each for each in _files(stream)}
        self.names = tuple(self._found)

    def open(self, name: str) -> BinaryIO:
        """A member as a stream; empty where there is none."""
        if found := self._found.get(name):
            return io.BufferedReader(_Member(self._stream, found), 1 << 16)
        return io.BytesIO(b"")

    def read(self, name: str, most: int) -> bytes:
        """The first so many bytes of a member."""
        with self.open(name) as member:
            return member.read(most)


class _Member(io.RawIOBase):
    """What stands behind a head."""

    def __init__(self, stream: BinaryIO, head: _Head) -> None:
        self._stream = stream
        self._at = head.start
        self._left = head.size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        target = memoryview(buffer)
        self._stream.seek(self._at)
        piece = self._stream.read(min(len(target), self._left))
        self._at += len(piece)
        self._left -= len(piece)
        target[: len(piece)] = piece
        return len(piece)


def _files(stream: BinaryIO) -> Iterator[_Head]:
    """The files that are whole as they lie, until a block is no head."""
    extended: dict[str, str] = {}
    at = 0
    for _ in range(_MOST_HEADS):
        stream.seek(at)
        head = _head(stream.read(_BLOCK), at + _BLOCK, extended)
        if head is None:
            return
        if head.kind in _OF_THE_NEXT:
            extended |= _extended(stream.read(min(head.size, _MOST_SAID)), head.kind)
        else:
            is_sparse = any(each.startswith("GNU.sparse.") for each in extended)
            if head.kind in _FILES and not (is_sparse or head.name.endswith("/")):
                yield head
            extended = {}
        at = head.end


def _head(block: bytes, start: int, extended: dict[str, str]) -> _Head | None:
    """A block as a head, with what was said of it in those before; None if it is none."""
    if len(block) < _BLOCK or _number(block[_SUM]) != sum(block) - sum(block[_SUM]) + 8 * ord(" "):
        return None
    kind, size = block[156:157], _number(block[124:136])
    name, before = _text(block[:100]), _text(block[345:500])
    if block[257:263] == b"ustar\0" and before:
        name = f"{before}/{name}"
    if kind not in _OF_THE_NEXT:
        name = extended.get("path") or name
        size = _decimal(extended["size"].encode()) if "size" in extended else size
    if not 0 <= size <= _MOST_SIZE:
        return None
    return _Head(name, kind, start, 0 if kind in _WITHOUT_CONTENT else size)


def _extended(data: bytes, kind: bytes) -> dict[str, str]:
    """What is said of the next member: its name alone, or records of the form ``12 path=a/b``."""
    if kind != _PAX:
        return {"path": _text(data)} if kind == _GNU_NAME else {}
    found: dict[str, str] = {}
    at = 0
    while (space := data.find(b" ", at, at + _MOST_DIGITS)) > 0:
        end = at + _decimal(data[at:space])
        if not space < end <= len(data):
            break
        key, _, value = data[space + 1 : end - 1].partition(b"=")
        found[_text(key)] = _text(value)
        at = end
    return found


def _number(field: bytes) -> int:
    """A number of a head; below nothing where it is none."""
    if field[0] in (_BINARY, _BELOW_NOTHING):
        return int.from_bytes(field[1:]) if field[0] == _BINARY else -1
    digits = field.partition(b"\0")[0].strip() or b"0"
    return int(digits, 8) if digits.isdigit() and not {*digits} & {*b"89"} else -1


def _decimal(digits: bytes) -> int:
    return int(digits) if digits.isdigit() and len(digits) <= 2 * _MOST_DIGITS else -1


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")
