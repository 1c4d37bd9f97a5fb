"""Icon and preview image candidates of a page.

``link rel=icon`` (HTML §4.6.7.8), Open Graph, Twitter's cards, JSON-LD.
"""

import re
import struct
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.http.urls import join
from archiver.model.rendering import RenditionKind
from archiver.pages.metadata import Stated
from archiver.pages.reference_attributes import clean_reference

MOST_ICONS: Final = 4
MOST_COVERS: Final = 2
MOST_LINKS: Final = 50
WANTED: Final = 48
"""Pixels a side of an icon that is sharp enough; what is larger is made small."""
_DRAWN: Final = WANTED + 1
_UNSAID: Final = 32
_TOUCH: Final = 180
"""Pixels of icons whose links don't say so; Apple's are of that size."""
_NO_ICONS: Final = frozenset({"mask-icon", "fluid-icon"})
"""Shapes to be coloured, and pictures for programs that are no more."""
_SIZE = re.compile(r"([0-9]{1,4})x[0-9]{1,4}")
_COVERS: Final = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image")
_FURTHER: Final = ("twitter:image:src", "thumbnailurl")


def find_icons(tree: LexborHTMLParser, url: str, base: str) -> tuple[str, ...]:
    """Where the icon of a page's site may be, absolute, the best first.

    Where no link names one it is where browsers look for it.

    Args:
        tree: of the page.
        url: of the page.
        base: what its references are resolved against.
    """
    links = [each for each in tree.css("link[rel*='icon' i][href]")[:MOST_LINKS] if _is_icon(each)]
    if not links:
        guess = join(url, "/favicon.ico")
        return (guess,) if guess and guess.startswith(("http:", "https:")) else ()
    links.sort(key=_badness)
    return _resolved([each.attributes["href"] or "" for each in links], base)[:MOST_ICONS]


def find_covers(stated: Stated, base: str) -> tuple[str, ...]:
    """Where the picture may be that a page names as its own, absolute, the best first."""
    meta = stated.meta
    given = [meta[name] for name in _COVERS if name in meta]
    given += _addresses(stated.data.get("image"))
    given += [meta[name] for name in _FURTHER if name in meta]
    return _resolved(given, base)[:MOST_COVERS]


def _is_icon(link: LexborNode) -> bool:
    relations = set((link.attributes.get("rel") or "").lower().split())
    return not relations & _NO_ICONS


def _badness(link: LexborNode) -> tuple[bool, bool, int]:
    """Sorts links: the smallest that is sharp, then drawings, then the largest of the others."""
    attributes = link.attributes
    size = _size(link)
    return bool(attributes.get("media")), size < WANTED, size if size >= WANTED else -size


def _size(link: LexborNode) -> int:
    attributes = link.attributes
    kind, href = (attributes.get("type") or "").lower(), (attributes.get("href") or "").lower()
    if "svg" in kind or href.partition("?")[0].endswith(".svg"):
        return _DRAWN
    sizes = [int(each) for each in _SIZE.findall((attributes.get("sizes") or "").lower()[:200])]
    if sizes:
        return max(sizes)
    return _TOUCH if "apple-touch" in (attributes.get("rel") or "").lower() else _UNSAID


def _addresses(image: Any) -> list[str]:
    """The addresses of an ``image`` of JSON-LD: text, an object, or several of them."""
    if isinstance(image, list):
        return [each for one in image[:MOST_COVERS] for each in _addresses(one)]
    found = (image.get("url") or image.get("contentUrl")) if isinstance(image, dict) else image
    return [found] if isinstance(found, str) else []


def _resolved(given: list[str], base: str) -> tuple[str, ...]:
    """Absolute addresses, each once; what is no page of the web is left out."""
    found = (join(base, clean_reference(each).partition("#")[0]) for each in given if each)
    return tuple(dict.fromkeys(each for each in found if each))


LEAST: Final = {RenditionKind.ICON: (8, 8), RenditionKind.COVER: (200, 100)}
"""Pixels: what is smaller shows nothing, or is a badge; most that is, only counts views."""

_PNG = struct.Struct(">8x4x4sII")
_GIF = struct.Struct("<6xHH")


def is_too_small(kind: RenditionKind, content: bytes) -> bool:
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
