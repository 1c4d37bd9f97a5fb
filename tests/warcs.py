"""WARC files as other tools write them, put together by hand."""

import gzip
from uuid import uuid4


class Warc:
    """Records in gzip members each, or plain."""

    def __init__(self, *, packed=True):
        self.packed = packed
        self.bytes = b""

    def add(self, kind, url, block, *, at="2020-01-02T03:04:05Z", version="1.1", id=None, **fields):
        lines = [
            f"WARC/{version}",
            f"WARC-Type: {kind}",
            f"WARC-Record-ID: <{id or f'urn:uuid:{uuid4()}'}>",
            f"WARC-Date: {at}",
            f"WARC-Target-URI: {url}",
            *(f"WARC-{name.replace('_', '-')}: {value}" for name, value in fields.items()),
            f"Content-Length: {len(block)}",
        ]
        record = "\r\n".join([*lines, "", ""]).encode() + block + b"\r\n\r\n"
        self.bytes += gzip.compress(record) if self.packed else record

    def response(self, url, body, kind, *, extra=(), status="HTTP/1.1 200 OK", **more):
        self.add("response", url, head(status, f"Content-Type: {kind}", *extra) + body, **more)

    def request(self, url, *lines, **more):
        self.add("request", url, head("GET / HTTP/1.1", *lines), **more)

    def revisit(self, url, *, original, of_date, **more):
        block = head("HTTP/1.1 200 OK", "Content-Type: text/html")
        self.add(
            "revisit", url, block, Refers_To_Target_URI=original, Refers_To_Date=of_date, **more
        )


def head(*lines):
    return "\r\n".join([*lines, "", ""]).encode()
