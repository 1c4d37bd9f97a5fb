"""Strangers' pictures made small, in a child: bounded in pixels, without whatever else they hold.

Only the formats of the web are read. What says that it is larger than ``MOST_PIXELS`` is not
unpacked at all.
"""

import warnings
from io import BytesIO
from typing import Final

from PIL import Image, ImageOps

from archiver.derive.icon_drawing import harmless
from archiver.derive.least_pictures import LEAST
from archiver.derive.messages import MOST_PICTURE_BYTES
from archiver.model.likeness import LikenessKind, NewLikeness

MOST_PIXELS: Final = 50_000_000
COVER_SIDE: Final = 480
ICON_SIDE: Final = 64
MOST_ICON_PIXELS: Final = 4_200_000
"""An icon of 2,048 pixels a side is larger than any that is meant as one."""
MOST_SCANS: Final = 50
"""Of a JPEG: each is gone through for all pixels, however few bytes it has; ten are usual."""
_SCAN: Final = b"\xff\xda"
MOST_STRETCH: Final = 5
"""So many times as long as it is high, or the other way round; beyond it is a rule or a banner."""
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "ICO", "BMP", "AVIF")
Image.MAX_IMAGE_PIXELS = MOST_PIXELS
warnings.simplefilter("error", Image.DecompressionBombWarning)


def draw(kind: LikenessKind, content: bytes) -> NewLikeness | None:
    """An icon or a picture as lists show it; None where it is none that is worth showing."""
    if len(content) > MOST_PICTURE_BYTES or _has_many_scans(content):
        return None
    if kind is LikenessKind.ICON and _is_drawing(content):
        drawing = harmless(content)
        return NewLikeness(kind, "image/svg+xml", drawing) if drawing else None
    try:
        small = _icon(content) if kind is LikenessKind.ICON else _cover(content)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Warning):
        return None
    return NewLikeness(kind, "image/webp", small) if small else None


def _is_drawing(content: bytes) -> bool:
    start = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") and b"<svg" in content[:4096]


def _has_many_scans(content: bytes) -> bool:
    """Whether a JPEG is gone through too often (ITU T.81 §B.1.1.5: no such marker within data)."""
    return content.startswith(b"\xff\xd8") and content.count(_SCAN) > MOST_SCANS


def _cover(content: bytes) -> bytes | None:
    with Image.open(BytesIO(content), formats=_FORMATS) as image:
        wide, high = image.size
        if not _is_worth(wide, high):
            return None
        scale = min(1, COVER_SIDE / max(wide, high))
        image.draft("RGB", (int(wide * scale), int(high * scale)))
        small = ImageOps.exif_transpose(image)
        small.thumbnail((COVER_SIDE, COVER_SIDE), Image.Resampling.BILINEAR)
        return _packed(_flat(small), quality=74)


def _icon(content: bytes) -> bytes | None:
    with Image.open(BytesIO(content), formats=_FORMATS) as image:
        least = LEAST[LikenessKind.ICON][0]
        if min(image.size) < least or image.size[0] * image.size[1] > MOST_ICON_PIXELS:
            return None
        image.load()  # what an ICO says of its size is known to be true only now
        if image.size[0] * image.size[1] > MOST_ICON_PIXELS:
            return None
        small = image.convert("RGBA")
        small.thumbnail((ICON_SIDE, ICON_SIDE))
        return _packed(small, quality=90)


def _is_worth(wide: int, high: int) -> bool:
    least = LEAST[LikenessKind.COVER]
    is_large = wide >= least[0] and high >= least[1]
    is_even = max(wide, high) <= MOST_STRETCH * min(wide, high)
    return is_large and is_even and wide * high <= MOST_PIXELS


def _flat(image: Image.Image) -> Image.Image:
    """On white, where light shines through it."""
    if not image.has_transparency_data:
        return image.convert("RGB")
    clear = image.convert("RGBA")
    ground = Image.new("RGBA", clear.size, "white")
    return Image.alpha_composite(ground, clear).convert("RGB")


def _packed(image: Image.Image, *, quality: int) -> bytes:
    out = BytesIO()
    image.save(out, "WEBP", quality=quality, method=0, exif=b"", icc_profile=b"", xmp=b"")
    return out.getvalue()
