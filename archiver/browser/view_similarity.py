"""Similarity of two views of a page.

The images are PNG files from Chromium, scaled so that a cell is about a line of text: differences
in font smoothing disappear, and missing content shows.
"""

import struct
import zlib
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

from archiver.errors import BrowserError

SCALE = 0.05
MAX_PIXELS = 200_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")
_CHANNELS = {2: 3, 6: 4}
_NEAR = 24
"""Maximum difference of a colour channel between cells that count as equal."""
_WHOLE = 100
_Colour = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bitmap:
    """Decoded image as rows of colours."""

    rows: tuple[tuple[_Colour, ...], ...]


def read_png(data: bytes) -> Bitmap:
    """Decode a PNG as Chromium encodes it: eight bits per channel, not interlaced.

    Raises:
        BrowserError: it is not such a PNG, or too large.
    """
    try:
        width, height, channels, packed = _chunks(data)
        raw = _unpacked(packed, height * (width * channels + 1))
        return Bitmap(tuple(_rows(raw, width * channels, channels)))
    except (ValueError, KeyError, struct.error, zlib.error) as error:
        raise BrowserError(f"Cannot read the screenshot: {error}.") from error


def similarity_of(before: Bitmap, after: Bitmap) -> int:
    """Return how much of one view is in the other, in percent, ignoring cells empty in both.

    Args:
        before: the reference view.
        after: the view that may show the same.
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
    """Return the percentage of the words of one text that are in another."""
    wanted, there = Counter(before.split()), Counter(after.split())
    count = wanted.total()
    return _WHOLE * (wanted & there).total() // count if count else _WHOLE


def _is_near(one: _Colour, other: _Colour) -> bool:
    return all(abs(a - b) <= _NEAR for a, b in zip(one, other, strict=True))


def _chunks(data: bytes) -> tuple[int, int, int, bytes]:
    """Return (width, height, channels, compressed rows) of a PNG (PNG §11.2)."""
    if not data.startswith(_SIGNATURE):
        raise ValueError("it is not a PNG")
    place, header, packed = len(_SIGNATURE), b"", b""
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        body = data[place + 8 : place + 8 + length]
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        place += length + 12
    width, height, depth, colours, _, _, interlaced = _HEADER.unpack(header)
    if depth != 8 or interlaced or not 0 < width * height <= MAX_PIXELS:
        raise ValueError("it is not in the requested format")
    return width, height, _CHANNELS[colours], packed


def _unpacked(packed: bytes, length: int) -> bytes:
    raw = zlib.decompressobj().decompress(packed, length)
    if len(raw) != length:
        raise ValueError("the pixel data is too short")
    return raw


def _rows(raw: bytes, stride: int, channels: int) -> list[tuple[_Colour, ...]]:
    """Return the rows of an image with their filters undone (PNG §9.2)."""
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
        raise ValueError("a row has an unknown filter")
    for at in range(len(row)):
        left = row[at - channels] if at >= channels else 0
        up, corner = above[at], above[at - channels] if at >= channels else 0
        guess = (0, left, up, (left + up) // 2, _paeth(left, up, corner) if kind == 4 else 0)
        row[at] = (row[at] + guess[kind]) & 0xFF


def _paeth(left: int, up: int, corner: int) -> int:
    near = left + up - corner
    return min((left, up, corner), key=lambda each: abs(near - each))
