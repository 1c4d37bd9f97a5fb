"""Records of every kind, built like those of captures."""

import io
import os
from datetime import UTC, datetime

from archiver.model.capture import Exchange
from archiver.warc import writer
from archiver.warc.records import digest_of, new_record_id

NOW = datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC)
URL = "http://example.com/page"


def exchange(payload, *, chunked=False):
    digest, length = digest_of([payload])
    wire = b"%x\r\n%s\r\n0\r\n\r\n" % (len(payload), payload) if chunked else payload
    coding = b"Transfer-Encoding: chunked\r\n" if chunked else b""
    return Exchange(
        url=URL,
        at=NOW,
        ip="192.0.2.1",
        request=b"GET /page HTTP/1.1\r\nHost: example.com\r\n\r\n",
        head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + coding + b"\r\n",
        body=io.BytesIO(wire),
        chunked=chunked,
        status=200,
        headers=(("content-type", "text/html"),),
        payload_digest=digest,
        payload_length=length,
    )


def records(*payloads):
    built = []
    for payload, chunked in payloads:
        stored, ids = exchange(payload, chunked=chunked), (new_record_id(), new_record_id())
        built.append(writer.response(stored, id=ids[0], request_id=ids[1]))
        built.append(writer.request(stored, id=ids[1], response_id=ids[0]))
    original = writer.Original(record_id=built[0].id, url=URL, date=NOW)
    again = exchange(payloads[0][0])
    built.append(
        writer.revisit(again, id=new_record_id(), request_id=new_record_id(), refers_to=original)
    )
    built.append(
        writer.conversion(
            id=new_record_id(),
            url="urn:archiver:x:article",
            date=NOW,
            refers_to=built[0].id,
            content_type="text/html; charset=utf-8",
            block="é".encode(),
        )
    )
    built.append(
        writer.metadata(id=new_record_id(), url="urn:archiver:x", date=NOW, document={"é": 1})
    )
    return built


ALL_KINDS = ((b"hello " * 900, False), (b"hello", True), (b"", False), (os.urandom(3 << 20), False))
