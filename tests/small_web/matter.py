"""Content of the small web: images, and a font whose A is a block."""

import base64
import struct
import zlib

FONT = base64.b85decode(
    "00961015zr00RIZPg5^4L^naa0003f0001BV{Kt@0CfOc0004$0000yXKZ<9?{^*00005l0000mXk}q!"
    "Fz0ky000220000sXlP|&2Brgu0002w0000aXl-<O2BZLF0004q0000CY;R*>02lxx0005d00008ZDDwD"
    "00jUB000390000WZeeX@;g<}V0006A00018aBp*T04V?i0007L0000e0096100961{WQ{aUk^O>00RT)"
    "00000=O&n600000=O&n6000001B3#+0000300IC2000000096110er6000B%0001F1B3tp0000000000"
    "00000000030096100RI700961000020000000000000000000000ROy0gwO%00aO4000000000000000"
    "0000000000000000000000000009610000000000002KfKR*Bf03ZNC10VnZ00000000000000000000"
    "0000003ZMW0LTCU1Ly!`0rUU>00002000030000K00RI40000K00aOi0000600aO500ICY073u%0000W"
    "073u%|Kk6^00961000000000B02lxm009610001F0Av6I001#HGZkcHWB>pG0Av6F1B3#+00RI3GZ7&X"
    "WCI`qy!}J~0000405$*t0000000967000010000000IC900sa9009IE0096D01W^G009IE00ICG02xAT"
    "Z)0n7Qe|g#Y+-T$LI7+4ZvbNeYXEZqQUGNDX8?5oYye>ZasU7T00IC20000000000000000000000000"
    "000000000000RI303-kd"
)


def png(red, green, blue, *, width=40, height=30):
    """Return an image of one colour."""
    rows = (b"\0" + bytes((red, green, blue)) * width) * height

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def look_the_same(one, other):
    """Return whether two PNGs have the same pixels; decoding is slow and rarely needed."""
    return one == other or pixels(one) == pixels(other)


def pixels(picture):
    """Return the rows of a PNG with 8 bits per channel, because compression may differ."""
    at, packed, size = 8, b"", (0, 0, 0)
    while at < len(picture):
        length, kind = struct.unpack(">I4s", picture[at : at + 8])
        data = picture[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colours = struct.unpack(">IIBB", data[:10])
            size = width, height, {2: 3, 6: 4}[colours]
        elif kind == b"IDAT":
            packed += data
        at += 12 + length
    width, height, step = size
    raw, above, rows = zlib.decompress(packed), bytearray(width * step), []
    for row in range(height):
        start = row * (width * step + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * step])
        _unfilter(raw[start], line, above, step)
        rows.append(bytes(line))
        above = line
    return rows


def _unfilter(kind, line, above, step):
    """Undo a row's filter (PNG §9.2)."""
    for at in range(len(line)):
        left = line[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        up = above[at]
        guess = left + up - corner
        nearest = min((abs(guess - each), n, each) for n, each in enumerate((left, up, corner)))
        line[at] = (line[at] + (0, left, up, (left + up) // 2, nearest[2])[kind]) & 255
