"""Similarity of two views of a page.

The screenshots are scaled so that a pixel is about as high as a line of text: differences in font
smoothing disappear, and missing content remains visible.
"""

from collections import Counter
from io import BytesIO
from itertools import zip_longest

from PIL import Image

from archiver.errors import BrowserError

MAX_PIXELS = 200_000
_NEAR = 24
"""Maximum difference of a colour channel between pixels that count as equal."""
_WHOLE = 100
_Colour = tuple[int, ...]
Rows = tuple[tuple[_Colour, ...], ...]
"""Colours (red, green, blue) of an image, by row."""


def read_png(data: bytes) -> Rows:
    """Decode a PNG.

    Raises:
        BrowserError: it is not a PNG, or too large.
    """
    try:
        with Image.open(BytesIO(data), formats=("PNG",)) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise BrowserError("Cannot read the screenshot: it is too large.")
            raw = image.convert("RGB").tobytes()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Warning) as error:
        raise BrowserError(f"Cannot read the screenshot: {error}.") from error
    pixels = [tuple(raw[at : at + 3]) for at in range(0, len(raw), 3)]
    return tuple(tuple(pixels[at : at + width]) for at in range(0, len(pixels), width))


def similarity_of(before: Rows, after: Rows) -> int:
    """Return the percentage of equal pixels, ignoring those with the background colour in both.

    Args:
        before: the reference view.
        after: the view to compare with it.
    """
    counted = Counter(pixel for row in before for pixel in row)
    if not counted:
        return _WHOLE
    ground = counted.most_common(1)[0][0]
    same = different = 0
    for mine, theirs in zip_longest(before, after, fillvalue=()):
        for one, other in zip_longest(mine, theirs, fillvalue=ground):
            if not _is_near(one, other):
                different += 1
            elif not _is_near(one, ground):
                same += 1
    return _WHOLE * same // (same + different) if same + different else _WHOLE


def words_contained(before: str, after: str) -> int:
    """Return the percentage of the words of ``before`` that are also in ``after``."""
    words_before, words_after = Counter(before.split()), Counter(after.split())
    count = words_before.total()
    return _WHOLE * (words_before & words_after).total() // count if count else _WHOLE


def _is_near(one: _Colour, other: _Colour) -> bool:
    return all(abs(a - b) <= _NEAR for a, b in zip(one, other, strict=True))
