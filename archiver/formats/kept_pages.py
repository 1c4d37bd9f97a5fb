"""Pages and what they need as files of an export: bounded, and led to where their parts will be."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice

from archiver.formats.zip_members import Members
from archiver.model.kept_page import KeptPage, KeptPart, part_url

MOST_PAGE = 16 << 20
MOST_FILE = 64 << 20
"""Bytes of a PDF or a whole page in one file."""
MOST_PARTS_BYTES = 64 << 20
MOST_PARTS = 500
_MOST_LOOKED_FOR = 1000
"""Files of an archive that a page is searched for: each takes a look through all of it."""
HTML = "text/html"
_KINDS = {
    **dict.fromkeys(("jpg", "jpeg"), "image/jpeg"),
    **{each: f"image/{each}" for each in ("png", "gif", "webp", "avif", "bmp")},
    **{each: f"font/{each}" for each in ("woff", "woff2", "ttf", "otf")},
    "svg": "image/svg+xml",
    "ico": "image/vnd.microsoft.icon",
    "css": "text/css",
    "pdf": "application/pdf",
    "html": HTML,
    "htm": HTML,
    "mp4": "video/mp4",
    "mp3": "audio/mpeg",
}


def kind_of_name(name: str) -> str:
    """The media type that a file's name tells."""
    return _KINDS.get(name.rpartition(".")[2].lower(), "application/octet-stream")


def page_with_files(
    content: bytes, packed: Members, files: Mapping[str, str], media_type: str = HTML
) -> KeptPage:
    """A page of HTML with files that it names.

    Args:
        content: of the page.
        packed: the archive that holds the files.
        files: the names of those there, by the references to them as they stand in the page.
        media_type: of the page.
    """
    looked_for = islice(files.items(), _MOST_LOOKED_FOR)
    named = [each for each in looked_for if each[0].encode() in content][:MOST_PARTS]
    parts = (
        (reference, kind_of_name(name), packed.read(name, MOST_PARTS_BYTES))
        for reference, name in named
    )
    return page_with_parts(content, parts, media_type)


def page_with_parts(
    content: bytes, parts: Iterable[tuple[str, str, bytes]], media_type: str = HTML
) -> KeptPage:
    """A page of HTML, its references led to where its parts are.

    Args:
        content: of the page.
        parts: (reference as it stands in the page, media type, bytes); up to ``MOST_PARTS_BYTES``.
        media_type: of the page.
    """
    kept: list[KeptPart] = []
    places: dict[bytes, bytes] = {}
    room = MOST_PARTS_BYTES
    for reference, kind, data in parts:
        room -= len(data)
        if not data or room < 0 or len(kept) >= MOST_PARTS:
            continue
        kept.append(KeptPart(part_url(data), kind, data))
        places[reference.encode()] = part_url(data).encode()
    return KeptPage(_led(content, places), media_type, tuple(kept))


def _led(content: bytes, places: Mapping[bytes, bytes]) -> bytes:
    if not places:
        return content
    longest_first = sorted(places, key=len, reverse=True)
    any_of_them = re.compile(b"|".join(map(re.escape, longest_first)))
    return any_of_them.sub(lambda found: places[found[0]], content)
