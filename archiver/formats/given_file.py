"""A file that was given: its head, looked at from many sides, and its content, read once."""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

from archiver.errors import UnreadableFile
from archiver.formats.charset import HEAD_BYTES, decode_head, find_charset, is_text, read_text
from archiver.formats.file_head import TOP, TableHead, XmlRoot, json_paths, table_head, xml_root
from archiver.formats.packed import is_packed, unpacked
from archiver.formats.tar_members import TarMembers, is_tar
from archiver.formats.zip_members import Members, is_zip
from archiver.model.choices import ColumnRole
from archiver.model.survey import Sign

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from archiver.model.entry_list import EntryList

_MOST_SHOWN = 8
_PACKED_NAME = re.compile(r"\.(?:g?z(?:ip)?|bz2|xz|zst)\Z", re.IGNORECASE)
Spool = Callable[[BinaryIO], BinaryIO]


def in_memory(stream: BinaryIO) -> BinaryIO:
    """A stream's content where it can be sought in: memory, for what is known to be small."""
    return io.BytesIO(stream.read())


class GivenFile:
    """A file of links; one that is packed, be it with gzip or else, is what is packed there.

    Args:
        source: read from where it stands, once; it need not be seekable.
        name: as the person knows it; a hint, and part of messages.
        spool: makes a stream seekable, for kinds whose table of contents is at the end.
        columns_as: what columns of a table say, where a person has said so.
        url: where it was fetched from, against which relative links are resolved; empty for others.

    Attributes:
        lists: which a reader has met beside bookmarks, where its kind tells of them.
        lists_left_out: how many more it has met, of which there are too many.
    """

    def __init__(
        self,
        source: BinaryIO,
        name: str,
        *,
        spool: Spool = in_memory,
        columns_as: Mapping[str, ColumnRole] | None = None,
        url: str = "",
    ) -> None:
        self.name = name
        self.url = url
        self.columns_as = columns_as or {}
        self.head = _read_head(source)
        if is_packed(self.head):
            packed = io.BufferedReader(_Rejoined(self.head, source), HEAD_BYTES)
            source = unpacked(packed, self.head)
            # What is damaged at once stays as it came, and is refused as that.
            self.head = _read_head(source) or self.head
            name = _PACKED_NAME.sub("", name)
        self.suffix = name.rpartition(".")[2].lower() if "." in name else ""
        self.lists: list[EntryList] = []
        self.lists_left_out = 0
        self._source = source
        self._spool = spool
        self._spooled: BinaryIO | None = None

    @cached_property
    def is_text(self) -> bool:
        """Whether it looks like text, in any charset."""
        return is_text(self.head)

    @cached_property
    def text(self) -> str:
        """The head as text."""
        return decode_head(self.head)

    @property
    def encoding(self) -> str:
        """What its text is read as; empty if it is none."""
        return find_charset(self.head) if self.is_text else ""

    @cached_property
    def json_paths(self) -> frozenset[str]:
        """Where its JSON holds what, as far as the head goes: ``[].href``; empty if it is none."""
        return json_paths(self.text) if self.is_text else frozenset()

    @cached_property
    def table(self) -> TableHead | None:
        """The header of its table (CSV or TSV), if it seems to be one."""
        if not self.is_text or self.json_paths or self.root:
            return None
        return table_head(self.text, self.suffix)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of its table, as ``rows.plain`` spells them."""
        return self.table.columns if self.table else frozenset()

    @cached_property
    def root(self) -> XmlRoot | None:
        """The root element, if it is XML and no HTML."""
        return xml_root(self.text) if self.is_text else None

    @cached_property
    def zip(self) -> Members | None:
        """What it holds, if it is a zip archive."""
        return Members(self.seekable()) if is_zip(self.head) else None

    @cached_property
    def tar(self) -> TarMembers | None:
        """What it holds, if it is a tar archive."""
        return TarMembers(self.seekable()) if is_tar(self.head) else None

    @property
    def members(self) -> tuple[str, ...]:
        """The names of what a zip archive holds."""
        return self.zip.names if self.zip else ()

    @property
    def told_by(self) -> tuple[Sign, str]:
        """What of it is looked at to tell what it is, and the names that are seen there."""
        if inside := self.members or (self.tar.names if self.tar else ()):
            return Sign.FILES, _some(inside)
        if self.table and self.table.header:
            return Sign.COLUMNS, _some(self.table.header)
        if self.json_paths:
            return Sign.FIELDS, _some(sorted(self.json_paths - {TOP, "[]", "{}"}))
        return (Sign.ROOT, self.root.name) if self.root else (Sign.BEGINNING, "")

    def inner(self, stream: BinaryIO, name: str) -> "GivenFile":
        """A file in this one, made seekable where this one is."""
        return GivenFile(stream, name, spool=self._spool)

    def stream(self) -> BinaryIO:
        """The whole content, to be read once."""
        if self._spooled:
            self._spooled.seek(0)
            return self._spooled
        return io.BufferedReader(_Rejoined(self.head, self._source), HEAD_BYTES)

    def chunks(self) -> Iterator[str]:
        """The whole content as text, in pieces, to be read once."""
        return read_text(self.stream())

    def seekable(self) -> BinaryIO:
        """The whole content where it can be sought in, at its start."""
        if self._spooled is None:
            self._spooled = self._spool(self.stream())
        self._spooled.seek(0)
        return self._spooled


def joined(pieces: Iterable[str], name: str, most: int) -> str:
    """Join the text of a file, for parsers that hold all of it.

    Raises:
        UnreadableFile: it has more than so many characters.
    """
    found: list[str] = []
    room = most
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            raise UnreadableFile(
                "{name} is larger than {most} MB. Split it into several files.",
                name=name,
                most=most >> 20,
            )
        found.append(piece)
    return "".join(found)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(name[:60] for name in names[:_MOST_SHOWN])
    return f"{shown}, …" if len(names) > _MOST_SHOWN else shown


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
