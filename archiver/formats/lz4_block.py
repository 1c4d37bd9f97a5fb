"""Blocks of LZ4, unpacked: what Firefox packs with it is small, so this need not fly."""

MOST_UNPACKED = 64 << 20


def unpack_lz4(block: bytes, most: int = MOST_UNPACKED) -> bytes:
    """The content of a block (LZ4 Block Format), as far as it can be read and is not longer."""
    out = bytearray()
    at, end = 0, len(block)
    while at < end and len(out) < most:
        token = block[at]
        at += 1
        length, at = _length(block, at, token >> 4)
        out += block[at : at + length]
        at += length
        if at + 2 > end:
            break
        offset = block[at] | block[at + 1] << 8
        length, at = _length(block, at + 2, token & 15)
        start = len(out) - offset
        if offset == 0 or start < 0:
            break
        _repeat(out, start, min(length + 4, most))
    return bytes(out[:most])


def _length(block: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while at < len(block):
            length += block[at]
            at += 1
            if block[at - 1] != 255:
                break
    return length, at


def _repeat(out: bytearray, start: int, length: int) -> None:
    """Append what begins at a place again; it may reach into what is appended."""
    piece = bytes(out[start : start + length])
    out += (piece * (length // len(piece) + 1))[:length]
