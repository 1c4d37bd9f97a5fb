"""BibTeX and BibLaTeX, read by bibtexparser.

The address is in ``url`` or ``howpublished``, or follows from an identifier.
"""

import logging
import re
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from archiver.formats.given_file import GivenFile, joined
from archiver.formats.importer import Importer
from archiver.formats.latex import address_of_latex, text_of_latex
from archiver.formats.reference_fields import NO_ADDRESS, TOO_LONG, address_of, remarks_of
from archiver.formats.rows import Row, names_of, text_of
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.message import marked

if TYPE_CHECKING:
    from bibtexparser.model import Entry

MOST_CHARACTERS = 16 << 20
"""bibtexparser holds all of a file."""
_MOST_FIELDS = 1000
_FIRST = re.compile(
    r"^[ \t]{0,20}@\w{1,50}\s{0,9}[{(][^,\n{}]{0,500},\s{0,50}[\w-]{1,50}\s{0,9}=", re.MULTILINE
)
"""An entry; what stands before the first one is a preamble, shorthands, or notes."""


def _read(file: GivenFile) -> Iterator[Bookmark]:
    bibtexparser = import_module("bibtexparser")  # takes long, and few files are BibTeX
    model = import_module("bibtexparser.model")
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # problems are told as such
    text = joined(file.chunks(), file.name, MOST_CHARACTERS).lstrip("\ufeff")
    for block in bibtexparser.parse_string(text).blocks:
        found = block
        while isinstance(found, model.ParsingFailedBlock) and found.ignore_error_block:
            found = found.ignore_error_block  # a key or a field that is there twice
        if isinstance(found, model.Entry) and len(found.fields) <= _MOST_FIELDS:
            yield _reference(found)
        elif isinstance(found, model.Entry | model.ParsingFailedBlock):
            yield unreadable((found.raw or "").lstrip().partition("\n")[0][:200], TOO_LONG)


def _reference(entry: "Entry") -> Bookmark:
    fields = {"type": entry.entry_type, "key": entry.key}
    for field in entry.fields:
        fields.setdefault(field.key.lower(), " ".join(str(field.value).split()))
    row = Row(fields)
    url = address_of_latex(row.text("url") or row.text("howpublished")) or address_of(
        text_of(row.peek("doi")), remarks_of(fields)
    )
    title = text_of_latex(row.text("title"))
    if not url:
        return unreadable(title or entry.key, NO_ADDRESS)
    return row.bookmark(
        url,
        title=title,
        note=text_of_latex(row.text("note", "annote")),
        added_at=row.moment("timestamp", "dateadded", "urldate"),
        tags=names_of(text_of_latex(row.text("keywords", "mendeleytags"))),
    )


def _begins(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith(("@", "%")) and _FIRST.search(text) is not None


BIBTEX = Importer(
    "BibTeX",
    lambda file: file.is_text and (file.suffix == "bib" or _begins(file.text)),
    _read,
    ("bib",),
    marked("Zotero, Mendeley, JabRef: Export, BibTeX or BibLaTeX"),
)
