"""Icons and preview images of pages, and safe SVG icons.

The service displays an SVG icon only as an image and with a restrictive security policy. Unsafe
content is removed as well, because exported copies have no such policy.

Only web image formats are read. Images that declare more than ``MAX_PIXELS`` are not decoded.
"""

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Final

from lxml import etree
from PIL import Image, ImageOps

from archiver.model.rendering import NewRendition, RenditionKind
from archiver.pages.icon_candidates import LEAST
from archiver.pages.worker_messages import MAX_PICTURE_BYTES

MAX_DRAWING: Final = 32 << 10
MAX_DRAWN: Final = 5_000
"""Maximum number of rendered elements of an SVG.

An element is counted each time that it is referenced, because nested references can expand a few
lines to a billion elements.
"""
_NAMES: Final = """
    svg g defs symbol use title desc style switch path rect circle ellipse line polyline polygon
    text tspan linearGradient radialGradient stop clipPath mask pattern marker filter feBlend
    feColorMatrix feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG
    feFuncR feGaussianBlur feMerge feMergeNode feOffset
"""
_ALLOWED: Final = frozenset(f"{{http://www.w3.org/2000/svg}}{name}" for name in _NAMES.split())
_ROOT: Final = "{http://www.w3.org/2000/svg}svg"
_STYLE: Final = "{http://www.w3.org/2000/svg}style"
_POINTS: Final = frozenset({"href", "{http://www.w3.org/1999/xlink}href"})
_LOADS = re.compile(
    r"\\|@import|image\s*\(|image-set|src\s*\(|url\(\s*+['\"]?+\s*+(?!#)", re.IGNORECASE
)
"""External references in CSS, and any backslash, because an escape may hide such a reference."""
_REFERENCE = re.compile(r"(?:^\s*|url\(\s*['\"]?\s*)#([^'\")\s]+)", re.IGNORECASE)
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_CLASSES = re.compile(r"\s*\.[\w-]+\s*(?:,\s*\.[\w-]+\s*)*")
_ANY: Final = ""


def harmless(content: bytes) -> bytes | None:
    """Return an SVG without scripts, links and external content; None if it is not a usable SVG."""
    if len(content) > MAX_DRAWING:
        return None
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    declared = root.getroottree().docinfo.internalDTD
    if root.tag != _ROOT or (declared is not None and [*declared.iterentities()]):
        return None
    for element in [*root.iter()]:
        _clean(element)
    packed: bytes = etree.tostring(root)
    return packed if len(packed) <= MAX_DRAWING and _is_cheap(root) else None


def _clean(element: etree._Element) -> None:
    """Remove a forbidden element, or its forbidden attributes."""
    parent = element.getparent()
    text = f"{element.text or ''}{element.tail or ''}" if isinstance(element.tag, str) else ""
    if element.tag not in _ALLOWED or _LOADS.search(text):
        if parent is not None:
            parent.remove(element)
        return
    for name, value in element.attrib.items():
        leads_out = name in _POINTS and not value.strip().startswith("#")
        if leads_out or str(name).lower().startswith("on") or _LOADS.search(str(value)):
            del element.attrib[name]


def _is_cheap(root: etree._Element) -> bool:
    """Return whether rendering an SVG draws at most ``MAX_DRAWN`` elements."""
    named = {str(name): each for each in root.iter() if (name := each.get("id"))}
    styled = _style_references(root)
    waiting, drawn = [root], 0
    while waiting and drawn <= MAX_DRAWN:
        element = waiting.pop()
        drawn += 1
        waiting += element
        waiting += [named[each] for each in _references(element, styled) if each in named]
    return not waiting


def _references(element: etree._Element, styled: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the ids that an element references by its attributes and classes."""
    for value in element.attrib.values():
        yield from _REFERENCE.findall(str(value))
    for each in (_ANY, *(element.get("class") or "").split()):
        yield from styled.get(each, ())


def _style_references(root: etree._Element) -> dict[str, list[str]]:
    """Return the ids that style sheets reference, by the class in the selector of the rule.

    The key ``""`` has the references of rules with any other selector.
    """
    references: dict[str, list[str]] = defaultdict(list)
    for sheet in root.iter(_STYLE):
        for selector, body in _RULE.findall("".join(sheet.itertext())):
            classes = re.findall(r"[\w-]+", selector) if _CLASSES.fullmatch(selector) else [_ANY]
            for each in classes:
                references[each] += _REFERENCE.findall(body)
    return references


MAX_PIXELS: Final = 50_000_000
COVER_SIDE: Final = 480
ICON_SIDE: Final = 64
MAX_ICON_PIXELS: Final = 4_200_000
"""Maximum number of pixels of an icon; 2,048 by 2,048 pixels is larger than any real icon."""
MAX_SCANS: Final = 50
"""Maximum number of scans of a JPEG. Each scan costs a pass over all pixels; ten are usual."""
_SCAN: Final = b"\xff\xda"
MAX_STRETCH: Final = 5
"""Maximum aspect ratio; more elongated images are separator lines or banners."""
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "ICO", "BMP", "AVIF")
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.simplefilter("error", Image.DecompressionBombWarning)


def draw(kind: RenditionKind, content: bytes) -> NewRendition | None:
    """Create an icon or preview image; return None if the image is not worth displaying."""
    if len(content) > MAX_PICTURE_BYTES or _has_many_scans(content):
        return None
    if kind is RenditionKind.ICON and _is_drawing(content):
        drawing = harmless(content)
        return NewRendition(kind, "image/svg+xml", drawing) if drawing else None
    try:
        small = _icon(content) if kind is RenditionKind.ICON else _cover(content)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Warning):
        return None
    return NewRendition(kind, "image/webp", small) if small else None


def _is_drawing(content: bytes) -> bool:
    start = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") and b"<svg" in content[:4096]


def _has_many_scans(content: bytes) -> bool:
    """Return whether a JPEG has more than ``MAX_SCANS`` scans.

    Counting markers is sufficient, because image data can't contain them (ITU T.81 §B.1.1.5).
    """
    return content.startswith(b"\xff\xd8") and content.count(_SCAN) > MAX_SCANS


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
        least = LEAST[RenditionKind.ICON][0]
        if min(image.size) < least or image.size[0] * image.size[1] > MAX_ICON_PIXELS:
            return None
        image.load()  # an ICO's real size is known only after loading
        if image.size[0] * image.size[1] > MAX_ICON_PIXELS:
            return None
        small = image.convert("RGBA")
        small.thumbnail((ICON_SIDE, ICON_SIDE))
        return _packed(small, quality=90)


def _is_worth(wide: int, high: int) -> bool:
    least = LEAST[RenditionKind.COVER]
    is_large = wide >= least[0] and high >= least[1]
    is_even = max(wide, high) <= MAX_STRETCH * min(wide, high)
    return is_large and is_even and wide * high <= MAX_PIXELS


def _flat(image: Image.Image) -> Image.Image:
    """Flatten transparency on white."""
    if not image.has_transparency_data:
        return image.convert("RGB")
    clear = image.convert("RGBA")
    ground = Image.new("RGBA", clear.size, "white")
    return Image.alpha_composite(ground, clear).convert("RGB")


def _packed(image: Image.Image, *, quality: int) -> bytes:
    out = BytesIO()
    image.save(out, "WEBP", quality=quality, method=0, exif=b"", icc_profile=b"", xmp=b"")
    return out.getvalue()
