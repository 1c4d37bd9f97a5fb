"""Bytes out of Zstandard frames, one frame at a time (RFC 8878, and the IIPC's warc-zstd 1.0).

A file may open with a dictionary for all its frames, in a skippable frame, which may be packed
itself. Other skippable frames are passed over.
"""

import sys

from archiver.errors import InvalidRecord, TornRecord
from archiver.warc.members import PIECE, Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FRAME = b"\x28\xb5\x2f\xfd"
DICTIONARY = b"\x5d\x2a\x4d\x18"
MOST_DICTIONARY = 8 << 20
"""Bytes of a dictionary, packed or not: what every reader must take."""
MOST_WINDOW_LOG = 27
"""A frame that wants more than 128 MiB of memory is refused; 8 MiB is what every reader takes."""
_SKIPPABLE_LAST = b"\x2a\x4d\x18"
_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: MOST_WINDOW_LOG}


class ZstdFrame:
    """The content of the frame that starts where ``source`` stands.

    Raises:
        InvalidRecord: there is none.
    """

    def __init__(self, source: Source, dictionary: zstd.ZstdDict | None) -> None:
        self._source = source
        self._unpack = zstd.ZstdDecompressor(dictionary, options=_OPTIONS)

    def some(self) -> bytes:
        """Whatever comes next; empty at the end.

        Raises:
            TornRecord: the source ends before the frame does.
            InvalidRecord: it is damaged, or needs a dictionary that the file does not have.
        """
        while not self._unpack.eof:
            data = b""
            if self._unpack.needs_input and not (data := self._source.take()):
                raise TornRecord("The file ends in the middle of a record.")
            try:
                out = self._unpack.decompress(data, PIECE)
            except zstd.ZstdError as error:
                raise InvalidRecord(f"This is not a Zstandard frame: {error}.") from error
            if self._unpack.eof:
                self._source.put_back(self._unpack.unused_data)
            if out:
                return out
        return b""


def read_dictionary(source: Source) -> zstd.ZstdDict | None:
    """The dictionary that a file opens with, if it does.

    Raises:
        InvalidRecord: it is none, or too large.
        TornRecord: the file ends in it.
    """
    if _exactly(source, len(FRAME), keep=True) != DICTIONARY:
        return None
    size = int.from_bytes(_exactly(source, 8)[4:], "little")
    if size > MOST_DICTIONARY:
        raise InvalidRecord(f"Its dictionary is larger than {MOST_DICTIONARY:,} bytes.")
    content = _exactly(source, size)
    try:
        if content.startswith(FRAME):
            content = zstd.ZstdDecompressor(options=_OPTIONS).decompress(
                content, MOST_DICTIONARY + 1
            )
        if len(content) > MOST_DICTIONARY:
            raise InvalidRecord(f"Its dictionary is larger than {MOST_DICTIONARY:,} bytes.")
        return zstd.ZstdDict(content)
    except (zstd.ZstdError, ValueError) as error:
        raise InvalidRecord(f"Its dictionary can't be read: {error}.") from error


def pass_skippable(source: Source) -> None:
    """Pass over skippable frames (RFC 8878 §3.1.2).

    Raises:
        TornRecord: the file ends in one.
    """
    while not source.at_end():
        magic = _exactly(source, len(FRAME), keep=True)
        if magic[1:] != _SKIPPABLE_LAST or magic[0] >> 4 != 5:
            return
        left = int.from_bytes(_exactly(source, 8)[4:], "little")
        while left:
            data = source.take()
            if not data:
                raise TornRecord("The file ends in a skippable frame.")
            source.put_back(data[left:])
            left -= min(left, len(data))


def _exactly(source: Source, size: int, *, keep: bool = False) -> bytes:
    """The next bytes; given back where they are only looked at."""
    found = bytearray()
    while len(found) < size and (data := source.take()):
        found += data
    source.put_back(bytes(found) if keep else bytes(found[size:]))
    if len(found) < size and not keep:
        raise TornRecord("The file ends in the middle of a frame.")
    return bytes(found[:size])
