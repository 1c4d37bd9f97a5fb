"""CSL JSON, as Zotero and others write it."""

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import json_importer
from archiver.formats.reference_fields import address_of, remarks_of
from archiver.formats.rows import Row, text_of
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked


def _reference(row: Row) -> Bookmark:
    return row.bookmark(
        row.text("url") or address_of(text_of(row.peek("doi")), remarks_of(_identifiers(row))),
        title=row.text("title"),
        note=row.text("note"),
        added_at=row.moment("timestamp", "dateadded"),
        tags=row.names("keyword", "keywords"),
    )


def _identifiers(row: Row) -> dict[str, str]:
    return {name: text_of(row.peek(name)) for name in ("pmid", "pmcid", "note")}


def _fits(file: GivenFile) -> bool:
    paths = file.json_paths
    return bool({"[].URL", "[].DOI"} & paths) and {"[].type", "[].title"} <= paths


CSL_JSON = json_importer(
    "CSL JSON", _fits, _reference, origin=marked("Zotero and others: Export library, CSL JSON")
)
