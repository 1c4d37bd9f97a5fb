"""Icon and preview image candidates of a page.

They come from ``link rel=icon`` (HTML §4.6.7.8), Open Graph, Twitter cards and JSON-LD.
"""

import re
import struct
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.http.urls import join
from archiver.model.rendering import RenditionKind
from archiver.pages.metadata import HeadMetadata
from archiver.pages.references import clean_reference

MAX_ICONS: Final = 4
MAX_COVERS: Final = 2
MAX_LINKS: Final = 50
WANTED: Final = 48
"""Minimum side in pixels of a sharp icon; larger icons are scaled down."""
_SVG_SIZE: Final = WANTED + 1
_UNSTATED_SIZE: Final = 32
_TOUCH: Final = 180
"""Assumed side of an ``apple-touch-icon`` without a declared size: Apple's standard size."""
_NO_ICONS: Final = frozenset({"mask-icon", "fluid-icon"})
"""``rel`` values of unsuitable icons: masks to be coloured, and icons of Fluid apps."""
_SIZE = re.compile(r"([0-9]{1,4})x[0-9]{1,4}")
_COVERS: Final = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image")
_FURTHER: Final = ("twitter:image:src", "thumbnailurl")


def find_icons(tree: LexborHTMLParser, url: str, base: str) -> tuple[str, ...]:
    """Return the candidate URLs of a site's icon, absolute, the best first.

    Without a link to an icon, the only candidate is ``/favicon.ico``.

    Args:
        tree: the tree of the page.
        url: the URL of the page.
        base: the base URL of the page's references.
    """
    links = [each for each in tree.css("link[rel*='icon' i][href]")[:MAX_LINKS] if _is_icon(each)]
    if not links:
        guess = join(url, "/favicon.ico")
        return (guess,) if guess and guess.startswith(("http:", "https:")) else ()
    links.sort(key=_sort_key)
    return _resolved([each.attributes["href"] or "" for each in links], base)[:MAX_ICONS]


def find_covers(metadata: HeadMetadata, base: str) -> tuple[str, ...]:
    """Return the candidate URLs of a page's preview image, absolute, the best first."""
    meta = metadata.meta
    urls = [meta[name] for name in _COVERS if name in meta]
    urls += _addresses(metadata.data.get("image"))
    urls += [meta[name] for name in _FURTHER if name in meta]
    return _resolved(urls, base)[:MAX_COVERS]


def _is_icon(link: LexborNode) -> bool:
    relations = set((link.attributes.get("rel") or "").lower().split())
    return not relations & _NO_ICONS


def _sort_key(link: LexborNode) -> tuple[bool, bool, int]:
    """Return a key that sorts icons, the best first.

    Icons of at least ``WANTED`` pixels come first, from the smallest to the largest. Smaller icons
    follow, from the largest to the smallest. SVG is sorted directly after icons of ``WANTED``
    pixels. Icons for a ``media`` condition come last.
    """
    attributes = link.attributes
    size = _size(link)
    return bool(attributes.get("media")), size < WANTED, size if size >= WANTED else -size


def _size(link: LexborNode) -> int:
    attributes = link.attributes
    kind, href = (attributes.get("type") or "").lower(), (attributes.get("href") or "").lower()
    if "svg" in kind or href.partition("?")[0].endswith(".svg"):
        return _SVG_SIZE
    sizes = [int(each) for each in _SIZE.findall((attributes.get("sizes") or "").lower()[:200])]
    if sizes:
        return max(sizes)
    return _TOUCH if "apple-touch" in (attributes.get("rel") or "").lower() else _UNSTATED_SIZE


def _addresses(image: Any) -> list[str]:
    """Return the URLs of a JSON-LD ``image``: a string, an object, or a list of them."""
    if isinstance(image, list):
        return [each for one in image[:MAX_COVERS] for each in _addresses(one)]
    address = (image.get("url") or image.get("contentUrl")) if isinstance(image, dict) else image
    return [address] if isinstance(address, str) else []


def _resolved(urls: list[str], base: str) -> tuple[str, ...]:
    """Return distinct absolute http(s) URLs."""
    urls_resolved = (join(base, clean_reference(each).partition("#")[0]) for each in urls if each)
    return tuple(dict.fromkeys(each for each in urls_resolved if each))


LEAST: Final = {RenditionKind.ICON: (8, 8), RenditionKind.COVER: (200, 100)}
"""Minimum width and height in pixels; smaller images are badges or tracking pixels."""

_PNG = struct.Struct(">8x4x4sII")
_GIF = struct.Struct("<6xHH")


def is_too_small(kind: RenditionKind, content: bytes) -> bool:
    """Return whether an image declares a size that is too small; unknown sizes are accepted."""
    size = _declared_size(content)
    if size is None:
        return False
    least = LEAST[kind]
    return size[0] < least[0] or size[1] < least[1]


def _declared_size(content: bytes) -> tuple[int, int] | None:
    """Return (width, height) in pixels of a PNG (§11.2.1) or GIF (89a §18)."""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) >= _PNG.size:
        chunk, wide, high = _PNG.unpack_from(content)
        return (wide, high) if chunk == b"IHDR" else None
    if content.startswith((b"GIF87a", b"GIF89a")) and len(content) >= _GIF.size:
        wide, high = _GIF.unpack_from(content)
        return wide, high
    return None
