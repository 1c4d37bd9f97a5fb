"""RIS: a field a line, ``UR  - https://…``; ``ER`` ends a reference."""

import re
from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.reference_fields import NO_ADDRESS, address_of_doi, lines_of
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.message import marked

_FIELD = re.compile(r"\s*([A-Z][A-Z0-9])  ?- ?(.*)")
_TITLES = ("TI", "T1", "CT", "BT")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    fields: dict[str, list[str]] = {}
    for line in lines_of(file):
        found = _FIELD.match(line)
        if found is None:
            continue
        if found[1] == "ER":
            yield _reference(fields)
            fields = {}
        elif found[2].strip():
            fields.setdefault(found[1], []).append(found[2].strip())
    if fields:
        yield _reference(fields)


def _reference(fields: dict[str, list[str]]) -> Bookmark:
    url = _first(fields, "UR") or _first(fields, "L1") or _first(fields, "LK")
    doi = _first(fields, "DO")
    if not url and doi:
        url = address_of_doi(doi)
    title = next(filter(None, (_first(fields, each) for each in _TITLES)), "")
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


def _first(fields: dict[str, list[str]], name: str) -> str:
    return fields.get(name, [""])[0]


RIS = Importer(
    "RIS",
    lambda file: file.is_text and re.match(r"\s*TY  ?- ", file.text) is not None,
    _read,
    ("ris",),
    marked("Zotero, Mendeley, EndNote: Export, RIS"),
)
