"""RIS, read by rispy: a field a line, ``UR  - https://…``, between ``TY`` and ``ER``.

Some producers write only one of them, or neither: then an empty line behind the address is the end.
"""

import re
from collections.abc import Iterator

from rispy import RisParser
from rispy.config import TAG_KEY_MAPPING

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.reference_fields import (
    MOST_LINES,
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
_NEXT_ADDRESS = re.compile(r";\s*(?=https?://)")
_ADDRESSES = ("UR", "L1", "LK")
_TITLES = ("TI", "T1", "CT", "BT")
_TAGS = {tag: tag for tag in (*TAG_KEY_MAPPING, *_ADDRESSES, *_TITLES)}
Fields = dict[str, list[str]]


def _read(file: GivenFile) -> Iterator[Bookmark]:
    for lines, is_whole in _references(file):
        fields = _fields(lines)
        if not is_whole:
            yield unreadable(_title(fields), TOO_LONG)
        elif fields:
            yield _bookmark(fields)


def _references(file: GivenFile) -> Iterator[tuple[list[str], bool]]:
    """Yield the fields of each reference as lines, and whether these are all."""
    lines: list[str] = []
    tags: set[str] = set()
    count = size = 0
    for line in lines_of(file):
        found = _FIELD.match(line)
        tag = found[1] if found else ""
        is_over = not line.strip() and "TY" not in tags and not tags.isdisjoint((*_ADDRESSES, "DO"))
        if lines and (is_over or tag in ("TY", "ER")):
            yield lines, count <= MOST_LINES and size <= MOST_REFERENCE
            lines, tags, count, size = [], set(), 0, 0
        if tag == "ER" or not line.strip():
            continue
        count, size = count + 1, size + len(line)
        if count > MOST_LINES or size > MOST_REFERENCE:
            continue
        tags.add(tag)
        if found:
            lines.append(f"{tag}  - {found[2].strip()}")
        elif lines:
            lines[-1] += f" {line.strip()}"  # a long field may go on in the next line
    if lines:
        yield lines, count <= MOST_LINES and size <= MOST_REFERENCE


def _fields(lines: list[str]) -> Fields:
    begin = [] if lines[0].startswith("TY") else ["TY  - "]
    text = "\n".join((*begin, *lines, "ER  - "))
    # ``;`` may be part of an address, so rispy is not to split there.
    parser = RisParser(mapping=_TAGS, delimiter_tags_mapping={}, enforce_list_tags=False)
    records = parser.parse(text)
    found: Fields = {}
    for tag, value in (records[0] if records else {}).items():
        if isinstance(value, dict):
            found |= {each: list(values) for each, values in value.items() if each}
        else:
            found[tag] = value if isinstance(value, list) else [value]
    return {tag: kept for tag, values in found.items() if (kept := [*filter(None, values)])}


def _bookmark(fields: Fields) -> Bookmark:
    title = _title(fields)
    given = [each for tag in _ADDRESSES for each in fields.get(tag, ())]
    addresses = [each for text in given for each in _NEXT_ADDRESS.split(text)]
    if not addresses:
        remarks = "\n".join(each for values in fields.values() for each in values)
        addresses = [address_of(_first(fields, "DO"), remarks)]
    if not addresses[0]:
        return unreadable(title, NO_ADDRESS)
    kept = {tag: each for tag, each in fields.items() if tag not in (*_ADDRESSES, "KW", "N1")}
    kept["UR"] = addresses[1:]
    row = Row({tag: each[0] if len(each) == 1 else each for tag, each in kept.items() if each})
    row.drop(*(each.lower() for each in _TITLES if _first(fields, each) == title))
    return row.bookmark(
        addresses[0],
        title=title,
        note="\n\n".join(fields.get("N1", ())),
        tags=tuple(dict.fromkeys(fields.get("KW", ()))),
    )


def _title(fields: Fields) -> str:
    return next(filter(None, (_first(fields, each) for each in _TITLES)), "")


def _first(fields: Fields, tag: str) -> str:
    return fields.get(tag, [""])[0]


def _recognises(file: GivenFile) -> bool:
    """Return whether it begins with a field, of what is certainly a reference with an address."""
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
