"""Diigo's CSV: ``title,url,tags,description,comments,annotations,created_at``."""

import re

from archiver.formats.row_importers import has_columns, table_importer
from archiver.formats.rows import Row, both
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_TAG = re.compile(r'"([^"]+)"|([^\s,"]+)')
_NO_TAG = "no_tag"


def _bookmark(row: Row) -> Bookmark:
    tags = row.text("tags")
    found = tags.split(",") if "," in tags else ["".join(each) for each in _TAG.findall(tags)]
    named = (each.strip() for each in found)
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        note=both(row.text("description"), row.text("comments")),
        added_at=row.moment("createdat"),
        tags=tuple(dict.fromkeys(each for each in named if each and each != _NO_TAG)),
    )


DIIGO = table_importer(
    "Diigo CSV",
    has_columns("url", "annotations", "comments"),
    _bookmark,
    origin=marked("Diigo: Tools, Export, CSV"),
)
