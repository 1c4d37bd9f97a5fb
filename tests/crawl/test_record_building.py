"""A payload is stored once if every WARC reader can find it again."""

from datetime import UTC, datetime
from io import BytesIO

from archiver.crawl.record_building import Originals, Plan, capture_of_exchange, plan_exchange
from archiver.model.capture import Exchange
from archiver.warc.records import RecordType, digest_of, new_record_id

BODY = b"5\r\nhello\r\n0\r\n\r\n"


def exchange(url, *, chunked):
    digest, length = digest_of([b"hello"])
    return Exchange(
        url=url, at=datetime(2026, 3, 1, tzinfo=UTC), ip="", request=b"", head=b"", status=200,
        body=BytesIO(BODY if chunked else b"hello"), chunked=chunked, headers=(),
        payload_digest=digest, payload_length=length,
    )  # fmt: skip


def types(*exchanges):
    plan, originals = Plan(), Originals()
    for each in exchanges:
        plan_exchange(plan, each, capture_of_exchange(each, new_record_id()), originals)
    return [each.type for each in plan.records]


def test_a_stored_payload_is_referenced_from_any_url():
    one, two = (exchange(f"http://a.example/{n}", chunked=False) for n in range(2))

    assert types(one, two, one) == [RecordType.RESPONSE, RecordType.REVISIT, RecordType.REVISIT]


def test_a_chunked_payload_is_referenced_from_its_own_url_only():
    """Readers find an original at another URL by its digest, which chunked records do not have."""
    one, two = (exchange(f"http://a.example/{n}", chunked=True) for n in range(2))

    assert types(one, two, one, two) == [
        RecordType.RESPONSE,
        RecordType.RESPONSE,
        RecordType.REVISIT,
        RecordType.REVISIT,
    ]


def test_an_original_without_chunk_framing_is_preferred():
    framed, plain = (exchange(f"http://a.example/{n}", chunked=not n) for n in range(2))
    third = exchange("http://a.example/third", chunked=True)

    assert types(framed, plain, third) == [
        RecordType.RESPONSE,
        RecordType.RESPONSE,
        RecordType.REVISIT,
    ]
