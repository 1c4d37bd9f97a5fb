"""Named fields of our own (ISO 28500 §5.1 lets a record have such).

Most are on records that were imported: what another program wrote of one and ours had to change,
so that it is still known.
"""

from collections.abc import Mapping
from datetime import datetime

from archiver.model.provenance import Provenance, Way
from archiver.wire.moments import read_iso, write_iso

ORIGINAL_ID = "WARC-Archiver-Original-Record-ID"
"""The WARC-Record-ID that a record had, where another record has that id or it is no UUID."""
ORIGINAL_DIGEST = "WARC-Archiver-Original-Payload-Digest"
"""The WARC-Payload-Digest that a record had, where it is none of ours and holds."""
HEAD = "WARC-Archiver-Head"
SYNTHESISED = "synthesised"
"""Said of a block whose HTTP head was made here: there was none."""
ANSWERS = "WARC-Archiver-Answers"
"""Of a response that is not what its URL shows: the method of its request, or ``part``."""

ORIGIN = "WARC-Archiver-Origin"
"""Where a page came from that no site sent: a file of links that held it, and its format."""
SOURCE_URI = "WARC-Source-URI"
"""The memento of another archive that a record was made of, as pywb has it."""
CREATION_DATE = "WARC-Creation-Date"
"""When a record was made whose date is that of the capture it was made of, as pywb has it."""
HANDED_IN = "WARC-Archiver-Handed-In"
"""When somebody handed a page in that their own browser had saved."""

MOST_VALUE = 1000
_CARRIED = (
    *("WARC-Truncated", ORIGINAL_ID, HEAD, ORIGIN),
    *(SOURCE_URI, CREATION_DATE, HANDED_IN),
)


def carried(fields: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The fields that a record keeps on its way in, from its fields by lower-case name."""
    return tuple(
        (name, one_line(fields[name.lower()])) for name in _CARRIED if name.lower() in fields
    )


def read_provenance(fields: Mapping[str, str]) -> Provenance | None:
    """Where a record came from, by its fields (names lower case); None where a site sent it."""
    source, origin = fields.get(SOURCE_URI.lower(), ""), fields.get(ORIGIN.lower(), "")
    if handed_in := fields.get(HANDED_IN.lower()):
        return Provenance(Way.HANDED_IN, origin, _moment(handed_in))
    if source.startswith(("http://", "https://")):
        return Provenance(Way.RESCUED, source, _moment(fields.get(CREATION_DATE.lower(), "")))
    return Provenance(Way.FROM_FILE, origin) if origin else None


def handed_in_field(at: datetime | None) -> tuple[tuple[str, str], ...]:
    """The field of a record that somebody handed in; none where nobody did."""
    return ((HANDED_IN, write_iso(at)),) if at else ()


def _moment(text: str) -> datetime | None:
    try:
        return read_iso(text)
    except ValueError:
        return None


def one_line(value: str) -> str:
    """A value as it can stand in a head: on one line, and bounded."""
    return " ".join(value.split())[:MOST_VALUE]
