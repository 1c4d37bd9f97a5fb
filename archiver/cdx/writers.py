"""Writes rows of a CDX answer: as text, as CDXJ, and in the two ways that JSON is asked for."""

import json
from collections.abc import Iterable

from archiver.cdx.fields import FIELDS, PYWB_NAMES
from archiver.cdx.query import CdxQuery, Output
from archiver.cdx.rows import Row


def media_type(output: Output) -> str:
    """The media type of an answer."""
    return {
        Output.JSON: "application/json",
        Output.LINES: "text/x-ndjson",
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
        write = {
            Output.JSON: self._array,
            Output.LINES: self._object,
            Output.CDXJ: self._cdxj,
            Output.TEXT: self._text,
        }[self._output]
        return "".join(map(write, rows)).encode("utf-8", "replace")

    def end(self, resume_key: str = "") -> bytes:
        """Write what stands behind the last row, the key of the next one among it."""
        if self._output is not Output.JSON:
            return f"\n{resume_key}\n".encode() if resume_key else b""
        if resume_key:
            return f",\n[],\n[{json.dumps(resume_key)}]]\n".encode()
        return b"]\n" if self._begun else b"[]\n"

    def _text(self, row: Row) -> str:
        """Fields with a space between them, which stands in none of them."""
        values = (row.get(name, "-") for name in self._fields)
        return " ".join(each.replace(" ", "%20") or "-" for each in values) + "\n"

    def _array(self, row: Row) -> str:
        """An array a row, the names of the fields in the first: as the Wayback CDX server does."""
        lead = ",\n"
        if not self._begun:
            self._begun = True
            lead = f"[{json.dumps(self._fields)},\n"
        values = [row.get(name, "-") for name in self._fields]
        return lead + json.dumps(values, ensure_ascii=False)

    def _object(self, row: Row) -> str:
        """An object a line, as pywb does, with its names."""
        return json.dumps(self._named(row, ()), ensure_ascii=False) + "\n"

    def _cdxj(self, row: Row) -> str:
        fields = json.dumps(self._named(row, ("urlkey", "timestamp")), ensure_ascii=False)
        return f"{row['urlkey']} {row['timestamp']} {fields}\n"

    def _named(self, row: Row, without: tuple[str, ...]) -> dict[str, str]:
        fields = self._fields
        if fields[: len(FIELDS)] == FIELDS:
            fields = (*FIELDS, "offset", "filename", *fields[len(FIELDS) :])
        return {
            PYWB_NAMES.get(name, name): row.get(name, "-") for name in fields if name not in without
        }
