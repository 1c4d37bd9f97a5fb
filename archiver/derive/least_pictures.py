"""Pictures that are too small to show, told by what their first bytes say: no child is asked."""

import struct
from typing import Final

from archiver.model.likeness import LikenessKind

LEAST: Final = {LikenessKind.ICON: (8, 8), LikenessKind.COVER: (200, 100)}
"""Pixels: what is smaller shows nothing, or is a badge; most that is, only counts views."""

_PNG = struct.Struct(">8x4x4sII")
_GIF = struct.Struct("<6xHH")


def is_too_small(kind: LikenessKind, content: bytes) -> bool:
    """Whether a picture says that it is too small; what doesn't say its size there is not."""
    size = _declared_size(content)
    if size is None:
        return False
    least = LEAST[kind]
    return size[0] < least[0] or size[1] < least[1]


def _declared_size(content: bytes) -> tuple[int, int] | None:
    """Pixels, wide and high, of a PNG (§11.2.1) and of a GIF (89a §18)."""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) >= _PNG.size:
        chunk, wide, high = _PNG.unpack_from(content)
        return (wide, high) if chunk == b"IHDR" else None
    if content.startswith((b"GIF87a", b"GIF89a")) and len(content) >= _GIF.size:
        wide, high = _GIF.unpack_from(content)
        return wide, high
    return None
