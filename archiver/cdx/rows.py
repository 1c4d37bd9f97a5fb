"""Rows of a CDX answer: fields of captures, filtered, collapsed and written, one after another."""

import json
from collections.abc import Iterable

from archiver.cdx.query import CdxQuery, Output
from archiver.model.capture import Capture
from archiver.urls.surt import surt

REVISIT = "warc/revisit"
Row = dict[str, str]


def row_of(capture: Capture) -> Row:
    """Every field of a capture; one with nothing to say is ``-``."""
    return {
        "urlkey": surt(capture.url),
        "timestamp": capture.timestamp,
        "original": capture.url,
        "mimetype": REVISIT if capture.is_revisit else capture.media_type or "unk",
        "statuscode": str(capture.status),
        "digest": capture.payload_digest,
        "length": str(capture.location.length),
        "offset": str(capture.location.offset),
        "filename": capture.location.segment,
        "redirect": capture.redirect_to or "-",
    }


class Selection:
    """The rows of captures that pass a question's filters, neighbours that collapse into one once.

    Stateful: captures come a page at a time. ``left`` is how many more rows are wanted.
    """

    def __init__(self, query: CdxQuery) -> None:
        self._query = query
        self._before: tuple[str, ...] | None = None
        self.left = query.limit

    def select(self, captures: Iterable[Capture]) -> list[Row]:
        """The rows of some more captures, no more than are wanted."""
        found: list[Row] = []
        for row in map(row_of, captures):
            if not self.left:
                break
            if self._passes(row):
                found.append(row)
                self.left -= 1
        return found

    def _passes(self, row: Row) -> bool:
        if not all(each.passes(row[each.field]) for each in self._query.filters):
            return False
        if not self._query.collapse:
            return True
        mark = tuple(row[name][: length or None] for name, length in self._query.collapse)
        before, self._before = self._before, mark
        return mark != before


def media_type(output: Output) -> str:
    """The media type of an answer."""
    return {
        Output.JSON: "application/json",
        Output.CDXJ: "text/x-cdxj",
        Output.TEXT: "text/plain",
    }[output]


class CdxWriter:
    """Writes an answer piece by piece: ``rows`` as often as there are some, then ``end``."""

    def __init__(self, query: CdxQuery) -> None:
        self._fields = query.fields
        self._output = query.output
        self._begun = False

    def rows(self, rows: Iterable[Row]) -> bytes:
        """Write some rows."""
        write = {Output.JSON: self._json, Output.CDXJ: _cdxj, Output.TEXT: self._text}
        return "".join(map(write[self._output], rows)).encode("utf-8", "replace")

    def _text(self, row: Row) -> str:
        """Fields with a space between them, which stands in none of them."""
        return " ".join(row[name].replace(" ", "%20") or "-" for name in self._fields) + "\n"

    def _json(self, row: Row) -> str:
        """An array a row, the names of the fields in the first: as the Wayback CDX server does."""
        lead = ",\n"
        if not self._begun:
            self._begun = True
            lead = f"[{json.dumps(self._fields)},\n"
        return lead + json.dumps([row[name] for name in self._fields], ensure_ascii=False)

    def end(self) -> bytes:
        """Write what stands behind the last row."""
        if self._output is not Output.JSON:
            return b""
        return b"]\n" if self._begun else b"[]\n"


def _cdxj(row: Row) -> str:
    said = {
        "url": row["original"],
        "mime": row["mimetype"],
        "status": row["statuscode"],
        "digest": row["digest"],
        "length": row["length"],
        "offset": row["offset"],
        "filename": row["filename"],
    }
    return f"{row['urlkey']} {row['timestamp']} {json.dumps(said, ensure_ascii=False)}\n"
