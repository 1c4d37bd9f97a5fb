"""RIS: a field a line, ``UR  - https://…``; ``TY`` begins a reference, and ``ER`` ends it.

Some write one of them alone, or neither: then an empty line behind the address is the end.
"""

import re
from collections.abc import Iterator
from itertools import chain

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.reference_fields import (
    MOST_REFERENCE,
    NO_ADDRESS,
    TOO_LONG,
    address_of,
    lines_of,
)
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.message import marked

_FIELD = re.compile(r"\s*([A-Z][A-Z0-9])  ?- ?(.*)")
_BEGINS = re.compile(r"\ufeff?\s*(?:TY  ?-|[A-Z][A-Z0-9]  - )")
_TYPE_OR_END = re.compile(r"^(?:TY|ER|UR|DO)  ?-", re.MULTILINE)
_ADDRESSES = frozenset({"UR", "L1", "LK", "DO"})
_HELD_WITH_A_FIELD = 80
_TITLES = ("TI", "T1", "CT", "BT")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    fields: dict[str, list[str]] = {}
    room = MOST_REFERENCE
    for line in lines_of(file):
        found = _FIELD.match(line)
        name = found[1] if found else ""
        if _is_over(name, line, fields):
            yield _reference(fields) if room > 0 else unreadable(_title(fields), TOO_LONG)
            fields, room = {}, MOST_REFERENCE
        if found and name != "ER" and found[2].strip():
            # Beside the text, what holds it: many short fields are no less.
            room -= len(line) + _HELD_WITH_A_FIELD
            if room > 0:
                fields.setdefault(name, []).append(found[2].strip())
    if fields:
        yield _reference(fields) if room > 0 else unreadable(_title(fields), TOO_LONG)


def _is_over(name: str, line: str, fields: dict[str, list[str]]) -> bool:
    """Whether a reference ends before a line."""
    if name in ("ER", "TY"):
        return bool(fields)
    return not line.strip() and "TY" not in fields and not _ADDRESSES.isdisjoint(fields)


def _reference(fields: dict[str, list[str]]) -> Bookmark:
    url = _first(fields, "UR") or _first(fields, "L1") or _first(fields, "LK")
    url = url or address_of(_first(fields, "DO"), "\n".join(chain.from_iterable(fields.values())))
    title = _title(fields)
    if not url:
        return unreadable(title, NO_ADDRESS)
    kept = {name: each for name, each in fields.items() if name not in ("UR", "KW", "N1")}
    row = Row({name: each[0] if len(each) == 1 else each for name, each in kept.items()})
    row.drop(*(each.lower() for each in _TITLES if _first(fields, each) == title))
    return row.bookmark(
        url,
        title=title,
        note="\n\n".join(fields.get("N1", ())),
        tags=tuple(dict.fromkeys(fields.get("KW", ()))),
    )


def _title(fields: dict[str, list[str]]) -> str:
    return next(filter(None, (_first(fields, each) for each in _TITLES)), "")


def _first(fields: dict[str, list[str]], name: str) -> str:
    return fields.get(name, [""])[0]


def _recognises(file: GivenFile) -> bool:
    """Whether it begins with a field, of what is certainly a reference with an address."""
    return (
        file.is_text
        and _BEGINS.match(file.text) is not None
        and _TYPE_OR_END.search(file.text) is not None
    )


RIS = Importer(
    "RIS",
    _recognises,
    _read,
    ("ris",),
    marked("Zotero, Mendeley, EndNote: Export, RIS"),
)
