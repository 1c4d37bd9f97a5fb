"""BibTeX and BibLaTeX: the address in ``url`` or ``howpublished``, or by an identifier."""

import re
from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.latex import text_of_latex, without_braces
from archiver.formats.reference_fields import (
    MOST_REFERENCE,
    NO_ADDRESS,
    TOO_LONG,
    address_of,
    lines_of,
    remarks_of,
)
from archiver.formats.rows import Row, names_of, text_of
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.message import marked

_ENTRY = re.compile(r"@(\w++)\s*+[{(]\s*+([^,\s]*+)\s*+,")
_FIRST = re.compile(
    r"^[ \t]{0,20}@\w{1,50}\s{0,9}[{(][^,\n{}]{0,500},\s{0,50}[\w-]{1,50}\s{0,9}=", re.MULTILINE
)
"""An entry; what stands before the first one is a preamble, shorthands, or notes."""
_FIELD = re.compile(r"\s*+([\w-]++)\s*+=\s*")
_HELD_WITH_A_LINE = 80
_WRAPPED = re.compile(r"\\url\{([^{}]*)\}")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    held: list[str] = []
    room = MOST_REFERENCE
    for line in lines_of(file):
        if _ENTRY.match(line.lstrip()) and held:
            yield from _held_one(held, is_whole=room > 0)
            held, room = [], MOST_REFERENCE
        if held or line.lstrip().startswith("@"):
            room -= len(line) + _HELD_WITH_A_LINE
            if room > 0 or not held:
                held.append(line)
    if held:
        yield from _held_one(held, is_whole=room > 0)


def _held_one(lines: list[str], *, is_whole: bool) -> Iterator[Bookmark]:
    """The reference of some lines; a problem where there were more."""
    if is_whole:
        yield from _reference("\n".join(lines))
    else:
        yield unreadable(lines[0], TOO_LONG)


def _reference(entry: str) -> Iterator[Bookmark]:
    head = _ENTRY.match(entry.lstrip())
    if head is None or head[1].lower() in ("comment", "string", "preamble"):
        return
    entry = entry.lstrip()
    fields: dict[str, str] = {"type": head[1], "key": head[2]}
    at = head.end()
    while found := _FIELD.match(entry, at):
        value, at = _value(entry, found.end())
        fields.setdefault(found[1].lower(), value)
    row = Row(fields)
    url = _WRAPPED.sub(r"\1", row.text("url") or row.text("howpublished")) or address_of(
        text_of(row.peek("doi")), remarks_of(fields)
    )
    title = without_braces(text_of_latex(row.text("title")))
    if not url:
        yield unreadable(title or head[2], NO_ADDRESS)
        return
    yield row.bookmark(
        without_braces(url),
        title=title,
        note=text_of_latex(row.text("note", "annote")),
        added_at=row.moment("timestamp", "dateadded", "urldate"),
        tags=names_of(without_braces(text_of_latex(row.text("keywords", "mendeleytags")))),
    )


def _value(entry: str, at: int) -> tuple[str, int]:
    """A value in braces, quotes or bare, and where what follows it begins."""
    opening = entry[at : at + 1]
    start, depth = at + 1, 0
    if opening not in ("{", '"'):
        end = re.compile(r"[,}\n]|\Z").search(entry, at)
        stop = end.start() if end else len(entry)
        return entry[at:stop].strip(), stop + 1
    for place in re.compile(r"[{}\"]").finditer(entry, start):
        mark = place[0]
        if depth == 0 and mark == ('"' if opening == '"' else "}"):
            comma = entry.find(",", place.end())
            following = comma + 1 if comma >= 0 else len(entry)
            return " ".join(entry[start : place.start()].split()), following
        depth += (mark == "{") - (mark == "}")
    return entry[start:], len(entry)


def _begins(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith(("@", "%")) and _FIRST.search(text) is not None


BIBTEX = Importer(
    "BibTeX",
    lambda file: file.is_text and (file.suffix == "bib" or _begins(file.text)),
    _read,
    ("bib",),
    marked("Zotero, Mendeley, JabRef: Export, BibTeX or BibLaTeX"),
)
