"""Imported responses to scripts are returned once, one at a time."""

from datetime import UTC, datetime
from io import BytesIO

import pytest

from archiver.formats import archive_records
from archiver.formats.archive_records import ForeignCapture, StoredResponses
from archiver.model.capture import Exchange, PayloadDigest, RecordId

ONE, TWO = RecordId("urn:uuid:1"), RecordId("urn:uuid:2")


def answer(given_id: str, body: bytes) -> ForeignCapture:
    exchange = Exchange(
        url="https://example.com/ask",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        ip="192.0.2.1",
        request=b"POST /ask HTTP/1.1\r\n\r\n",
        head=b"HTTP/1.1 200 OK\r\n\r\n",
        body=BytesIO(body),
        chunked=False,
        status=200,
        headers=(),
        payload_digest=PayloadDigest("sha256:0"),
        payload_length=len(body),
        is_shown=False,
    )
    return ForeignCapture(exchange, given_id)


def read(exchange: Exchange) -> bytes:
    with exchange.body as body:
        body.seek(0)
        return body.read()


@pytest.fixture
def kept():
    with StoredResponses() as made:
        yield made


def test_a_response_belongs_to_the_first_page_that_names_it(kept):
    kept.note(answer(ONE, b"first"))
    kept.note(answer(TWO, b"second"))

    assert read(kept.take(TWO)) == b"second"
    assert kept.take(TWO) is None
    assert kept.take(RecordId("urn:uuid:3")) is None
    assert read(kept.take(ONE)) == b"first"


def test_responses_that_decompress_beyond_the_limit_are_left_out(kept, monkeypatch):
    monkeypatch.setattr(archive_records, "MAX_SPOOLED", 10)
    kept.note(answer(ONE, b"a" * 11))
    kept.note(answer(TWO, b"b" * 10))

    assert kept.take(ONE) is None
    assert read(kept.take(TWO)) == b"b" * 10
