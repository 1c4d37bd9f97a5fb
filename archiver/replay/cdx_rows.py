"""CDX server rows: filtering and output."""

import json
from collections.abc import Iterable, Mapping

from archiver.model.capture import Capture, PayloadDigest
from archiver.replay.cdx_query import DUPES, FIELDS, PYWB_NAMES, RESOLVED, CdxQuery, Output

REVISIT = "warc/revisit"
Row = dict[str, str]
Found = tuple[str, Capture, int]
"""(SURT key, capture, row id of the capture in the index)."""
Originals = Mapping[PayloadDigest, Capture]


def row_of(key: str, capture: Capture) -> Row:
    """Return all fields of a capture; empty fields are ``-``."""
    return {
        "urlkey": key,
        "timestamp": capture.timestamp,
        "original": capture.url,
        "mimetype": REVISIT if capture.is_revisit else _media_type(capture),
        "statuscode": str(capture.status),
        "digest": capture.payload_digest,
        "length": str(capture.location.length),
        "offset": str(capture.location.offset),
        "filename": capture.location.segment,
        "redirect": capture.redirect_to or "-",
    }


class Selection:
    """Selection of captures by the filters, collapsing, offset and limit of a query.

    Captures are passed one page at a time, so the object has a state.

    Attributes:
        following: row id of the first capture beyond the limit; None until it is found.
    """

    def __init__(self, query: CdxQuery) -> None:
        self._query = query
        self._remaining = query.limit
        self._to_skip = 0 if query.paging.resume_key else query.offset
        self._last_values: list[str | None] = [None] * len(query.collapse)
        self._seen: dict[str, int] = {}
        self.following: int | None = None

    @property
    def is_done(self) -> bool:
        """Return whether the result is complete, so that no further captures are needed."""
        wants_following = self._query.paging.shows_resume_key
        return not self._remaining and (not wants_following or self.following is not None)

    def prime(self, before: Iterable[Found]) -> None:
        """Process captures before the first page, because rows collapse across page boundaries."""
        for key, capture, _ in before:
            self._passes(row_of(key, capture))

    def select(self, captures: Iterable[Found], originals: Originals) -> list[Row]:
        """Return the rows of the next captures, up to the limit."""
        rows: list[Row] = []
        for key, capture, number in captures:
            if self.is_done:
                break
            row = row_of(key, capture)
            resolved = self._resolved(row, capture, originals)
            if not self._passes(resolved if self._query.pywb else row):
                continue
            if self._to_skip:
                self._to_skip -= 1
            elif self._remaining:
                self._remaining -= 1
                rows.append(self._counted(resolved, capture))
            else:
                self.following = number
        return rows

    def _passes(self, row: Row) -> bool:
        if not all(each.passes(row[each.field]) for each in self._query.filters):
            return False
        for place, (name, length) in enumerate(self._query.collapse):
            mark = row[name][: length or None]
            if mark == self._last_values[place]:
                return False
            self._last_values[place] = mark
        return True

    def _resolved(self, row: Row, capture: Capture, originals: Originals) -> Row:
        """Add the original's location and media type to the row of a revisit, if requested."""
        if RESOLVED[0] not in self._query.counts:
            return row
        original = originals.get(capture.payload_digest) if capture.is_revisit else None
        if original is None:
            return row | dict.fromkeys(RESOLVED, "-")
        place = original.location
        values = (str(place.length), str(place.offset), place.segment)
        return row | {"mimetype": _media_type(capture)} | dict(zip(RESOLVED, values, strict=True))

    def _counted(self, row: Row, capture: Capture) -> Row:
        if DUPES[0] not in self._query.counts:
            return row
        count = self._seen[row["digest"]] = self._seen.get(row["digest"], -1) + 1
        mimetype = _media_type(capture) if count else row["mimetype"]
        return row | {"dupecount": str(count), "mimetype": mimetype}


def _media_type(capture: Capture) -> str:
    return capture.media_type or "unk"


def media_type(output: Output) -> str:
    """Return the media type of an output format."""
    return {
        Output.JSON: "application/json",
        Output.LINES: "text/x-ndjson",
        Output.CDXJ: "text/x-cdxj",
        Output.TEXT: "text/plain",
    }[output]


class CdxWriter:
    """Incremental writer of CDX output: call ``rows`` for each batch, then ``end``."""

    def __init__(self, query: CdxQuery) -> None:
        self._fields = query.fields
        self._output = query.output
        self._started = False

    def rows(self, rows: Iterable[Row]) -> bytes:
        """Return the output for a batch of rows."""
        write = {
            Output.JSON: self._array,
            Output.LINES: self._object,
            Output.CDXJ: self._cdxj,
            Output.TEXT: self._text,
        }[self._output]
        return "".join(map(write, rows)).encode("utf-8", "replace")

    def end(self, resume_key: str = "") -> bytes:
        """Return the output after the last row, including the resume key."""
        if self._output is not Output.JSON:
            return f"\n{resume_key}\n".encode() if resume_key else b""
        if resume_key:
            return f",\n[],\n[{json.dumps(resume_key)}]]\n".encode()
        return b"]\n" if self._started else b"[]\n"

    def _text(self, row: Row) -> str:
        """Return a line of fields separated by spaces; spaces in values are percent-encoded."""
        values = (row.get(name, "-") for name in self._fields)
        return " ".join(each.replace(" ", "%20") or "-" for each in values) + "\n"

    def _array(self, row: Row) -> str:
        """Return a row as a JSON array; the first row follows an array of field names."""
        lead = ",\n"
        if not self._started:
            self._started = True
            lead = f"[{json.dumps(self._fields)},\n"
        values = [row.get(name, "-") for name in self._fields]
        return lead + json.dumps(values, ensure_ascii=False)

    def _object(self, row: Row) -> str:
        """Return a row as a line with a JSON object, with pywb's field names."""
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
