"""XML of a kind nobody knows: every address in an attribute or as the text of an element."""

import re
from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.rows import MAX_URL
from archiver.formats.xml_events import elements, is_xml
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_ADDRESS = re.compile(r"\s*+(https?://[^\s<>\"]{3,})\s*+", re.IGNORECASE)
_TITLES = ("title", "name", "text", "description")
_NOT_LINKS = frozenset({"schemalocation", "nonamespaceschemalocation", "xmlns"})


def _read(file: GivenFile) -> Iterator[Bookmark]:
    title = ""
    for element in elements(file):
        if not element.is_end:
            for name, value in element.attributes.items():
                if name not in _NOT_LINKS and (found := _ADDRESS.fullmatch(value)):
                    named = next(filter(None, map(element.attributes.get, _TITLES)), "")
                    yield Bookmark(Annotation(found[1][:MAX_URL], title=named or ""))
        elif element.name in _TITLES:
            title = " ".join(element.text[:10_000].split())
        elif found := _ADDRESS.fullmatch(element.text[: MAX_URL + 100]):
            yield Bookmark(Annotation(found[1][:MAX_URL], title=title))
            title = ""


ANY_XML = Importer("XML", is_xml, _read, ("xml",), marked("any XML with addresses in it"))
