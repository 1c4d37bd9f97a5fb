"""Similarity of two views of a page.

Pictures are PNG, as Chromium makes them, and so small that a cell is about a line of text: what
differs in the smoothing of letters does not count, what is not there does.
"""

import struct
import zlib
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

from archiver.errors import BrowserError

SCALE = 0.05
MOST_PIXELS = 200_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")
_CHANNELS = {2: 3, 6: 4}
_NEAR = 24
"""So little do two channels of a cell differ that shows the same."""
_WHOLE = 100
_Colour = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bitmap:
    """A picture: its rows of colours."""

    rows: tuple[tuple[_Colour, ...], ...]


def read_png(data: bytes) -> Bitmap:
    """A picture as Chromium encodes it: eight bits a channel, not interlaced.

    Raises:
        BrowserError: it is none, or too large.
    """
    try:
        width, height, channels, packed = _chunks(data)
        raw = _unpacked(packed, height * (width * channels + 1))
        return Bitmap(tuple(_rows(raw, width * channels, channels)))
    except (ValueError, KeyError, struct.error, zlib.error) as error:
        raise BrowserError(f"The picture of the page can't be read: {error}.") from error


def resemblance(before: Bitmap, after: Bitmap) -> int:
    """How much of what one shows is in the other, in hundredths; what is empty in both counts not.

    Args:
        before: what is to be resembled.
        after: what may.
    """
    counted = Counter(cell for row in before.rows for cell in row)
    if not counted:
        return _WHOLE
    ground = counted.most_common(1)[0][0]
    same = different = 0
    for mine, theirs in zip_longest(before.rows, after.rows, fillvalue=()):
        for one, other in zip_longest(mine, theirs, fillvalue=ground):
            if not _is_near(one, other):
                different += 1
            elif not _is_near(one, ground):
                same += 1
    return _WHOLE * same // (same + different) if same + different else _WHOLE


def words_contained(before: str, after: str) -> int:
    """How many of the words of one text are in another, in hundredths."""
    wanted, there = Counter(before.split()), Counter(after.split())
    count = wanted.total()
    return _WHOLE * (wanted & there).total() // count if count else _WHOLE


def _is_near(one: _Colour, other: _Colour) -> bool:
    return all(abs(a - b) <= _NEAR for a, b in zip(one, other, strict=True))


def _chunks(data: bytes) -> tuple[int, int, int, bytes]:
    """(width, height, channels, compressed rows) of a PNG (PNG §11.2)."""
    if not data.startswith(_SIGNATURE):
        raise ValueError("it is no PNG")
    place, header, packed = len(_SIGNATURE), b"", b""
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        body = data[place + 8 : place + 8 + length]
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        place += length + 12
    width, height, depth, colours, _, _, interlaced = _HEADER.unpack(header)
    if depth != 8 or interlaced or not 0 < width * height <= MOST_PIXELS:
        raise ValueError("it is not as it was asked for")
    return width, height, _CHANNELS[colours], packed


def _unpacked(packed: bytes, length: int) -> bytes:
    raw = zlib.decompressobj().decompress(packed, length)
    if len(raw) != length:
        raise ValueError("it is shorter than it says")
    return raw


def _rows(raw: bytes, stride: int, channels: int) -> list[tuple[_Colour, ...]]:
    """The rows of a picture, each without its filter (PNG §9.2)."""
    found, above = [], bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        row = bytearray(raw[start + 1 : start + 1 + stride])
        _unfilter(raw[start], row, above, channels)
        cells = (row[at : at + 3] for at in range(0, stride, channels))
        found.append(tuple(tuple(cell) for cell in cells))
        above = row
    return found


def _unfilter(kind: int, row: bytearray, above: bytearray, channels: int) -> None:
    if kind > 4:
        raise ValueError("a row has a filter of no kind")
    for at in range(len(row)):
        left = row[at - channels] if at >= channels else 0
        up, corner = above[at], above[at - channels] if at >= channels else 0
        guess = (0, left, up, (left + up) // 2, _paeth(left, up, corner) if kind == 4 else 0)
        row[at] = (row[at] + guess[kind]) & 0xFF


def _paeth(left: int, up: int, corner: int) -> int:
    near = left + up - corner
    return min((left, up, corner), key=lambda each: abs(near - each))
