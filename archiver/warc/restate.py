"""Records said anew, under the id they have: with a payload of their own, or for another original.

Pure: from stored records to records that are to be written.
"""

from collections.abc import Mapping
from io import BytesIO
from typing import BinaryIO

from archiver.warc.build import SAME_PAYLOAD, Original, iso_date
from archiver.warc.reader import StoredRecord
from archiver.warc.record import Record, RecordType

_OF_EVERY_RECORD = frozenset(
    "warc-type warc-record-id warc-date warc-target-uri warc-block-digest content-type "
    "content-length".split()
)
_OF_REVISITS = frozenset(
    "warc-profile warc-refers-to warc-refers-to-target-uri warc-refers-to-date".split()
)
_DIGEST = "warc-payload-digest"


def as_response(
    revisit: StoredRecord, head: bytes, body: BinaryIO, *, digest: str, is_chunked: bool
) -> Record:
    """A revisit as the response that it stood for.

    Args:
        revisit: the record; its block may have been read.
        head: of the response.
        body: as the head says it is transferred.
        digest: of the payload.
        is_chunked: whether the body has chunk framing; then no payload digest is stated.
    """
    fields = _kept(revisit, without=_OF_REVISITS | {_DIGEST})
    if not is_chunked:
        fields[_written(_DIGEST)] = digest
    return _stated(revisit, RecordType.RESPONSE, head, body, fields)


def referring_to(revisit: StoredRecord, block: bytes, original: Original) -> Record:
    """A revisit that names another record for its payload."""
    fields = _kept(revisit, without=frozenset())
    fields |= {
        "WARC-Profile": revisit.get("warc-profile") or SAME_PAYLOAD,
        "WARC-Refers-To": f"<{original.record_id}>",
        "WARC-Refers-To-Target-URI": original.url,
        "WARC-Refers-To-Date": iso_date(original.date),
    }
    return _stated(revisit, RecordType.REVISIT, block, BytesIO(), fields)


def with_block(was: StoredRecord, block: bytes) -> Record:
    """A record with another block."""
    return _stated(was, was.type, block, BytesIO(), _kept(was, without=frozenset({_DIGEST})))


def _stated(
    was: StoredRecord, kind: RecordType, head: bytes, body: BinaryIO, fields: Mapping[str, str]
) -> Record:
    return Record(
        type=kind,
        id=was.id,
        date=was.date,
        target_uri=was.target_uri,
        content_type=was.content_type or "application/http;msgtype=response",
        prefix=head,
        body=body,
        fields=tuple(fields.items()),
    )


def _kept(was: StoredRecord, *, without: frozenset[str]) -> dict[str, str]:
    dropped = _OF_EVERY_RECORD | without
    return {_written(name): value for name, value in was.fields.items() if name not in dropped}


def _written(name: str) -> str:
    """A field's name as the standard writes it."""
    upper = {"warc", "ip", "id", "uri"}
    return "-".join(
        each.upper() if each in upper else each.capitalize() for each in name.split("-")
    )
