"""Records in unusual forms are read exactly as by fastwarc."""

import gzip
import io

from fastwarc.stream_io import ZstdWriter
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given
from hypothesis import strategies as st

from archiver.warc.foreign_files import ForeignRecord, ForeignWarc
from tests.warcs import Warc

ID = "urn:uuid:11111111-1111-4111-8111-111111111111"
TYPES = ["response", "resource", "request", "metadata", "revisit", "conversion"]
RECORD = st.tuples(
    st.sampled_from(TYPES),
    st.binary(max_size=300),
    st.sampled_from(["0.18", "1.0", "1.1"]),
    st.booleans(),
)


def written(records, *, is_odd):
    """Write records; with ``is_odd`` some field names in lower case, which fastwarc cannot read."""
    for number, (kind, body, version, is_lower) in enumerate(records):
        warc = Warc(packed=False)
        warc.add(kind, f"http://a.example/{number}", body, version=version, id=ID)
        head, _, block = warc.bytes.partition(b"\r\n\r\n")
        if is_odd and is_lower:
            head = head.replace(b"WARC-", b"warc-").replace(b"Content-Length", b"content-length")
        yield head + b"\r\n\r\n" + block


def zstandard(data):
    sink = io.BytesIO()
    writer = ZstdWriter(sink)
    writer.write(data)
    writer.close()
    return sink.getvalue()


PACKED = {
    "plain": b"".join,
    "gzip": lambda parts: b"".join(map(gzip.compress, parts)),
    "one member": lambda parts: gzip.compress(b"".join(parts)),
    "Zstandard": lambda parts: zstandard(b"".join(parts)),
}


def ours(data):
    return [
        (record.type, record.target_uri, record.block.read(record.block.remaining))
        for record in ForeignWarc(io.BytesIO(data))
        if isinstance(record, ForeignRecord)
    ]


def theirs(data):
    result = ArchiveIterator(
        io.BytesIO(data), record_types=WarcRecordType.any_type, parse_http=False
    )
    return [
        (record.headers["WARC-Type"], record.headers["WARC-Target-URI"], record.reader.read())
        for record in result
    ]


@given(st.lists(RECORD, min_size=1, max_size=6), st.sampled_from([*PACKED]))
def test_records_in_unusual_forms_are_read_like_by_fastwarc(records, form):
    odd, plain = ([*written(records, is_odd=is_odd)] for is_odd in (True, False))

    assert ours(PACKED[form](odd)) == theirs(b"".join(plain))
