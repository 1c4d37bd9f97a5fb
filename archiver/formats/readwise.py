"""Readwise Reader's CSV; its tags are a list as Python writes one."""

import re

from archiver.formats.row_importers import has_columns, table_importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
_FAVORITE = "favorite"


def _bookmark(row: Row) -> Bookmark:
    found = _QUOTED.findall(row.text("documenttags"))
    tags = tuple(dict.fromkeys(filter(None, (one or other for one, other in found))))
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=row.moment("saveddate"),
        tags=tuple(each for each in tags if each.lower() != _FAVORITE),
        is_read=row.word("location", "archive"),
        is_starred=any(each.lower() == _FAVORITE for each in tags),
    )


READWISE = table_importer(
    "Readwise Reader CSV",
    has_columns("url", "documenttags"),
    _bookmark,
    origin=marked("Readwise Reader: Account settings, Export, CSV"),
)
