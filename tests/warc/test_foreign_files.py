"""Foreign WARC files, compressed or not; damaged parts are reported and the rest is read."""

import gzip
import io
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import ArchiverError, UnreadableFile
from archiver.warc import decompression
from archiver.warc.foreign_files import (
    ArchiveForm,
    ForeignArc,
    ForeignRecord,
    ForeignWarc,
    recognise,
)
from tests.warcs import Warc

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BODIES = [b"one", b"", b"three\r\n\r\nWARC/1.1 \r\n x" * 9, bytes(range(256)) * 300]
DICTIONARY = zstd.train_dict([b"WARC/1.1\r\nWARC-Type: %d\r\n" % n * 9 for n in range(999)], 4096)


def records(bodies=BODIES, **more):
    """Return each record separately."""
    for number, body in enumerate(bodies):
        warc = Warc(packed=False)
        warc.add("resource", f"http://a.example/{number}", body, **more)
        yield warc.bytes


def zstandard(dictionary=None, *, packed_dictionary=False, skippable=b""):
    start = b""
    if dictionary:
        content = dictionary.dict_content
        content = zstd.compress(content) if packed_dictionary else content
        start = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    frames = [zstd.compress(each, zstd_dict=dictionary) for each in records()]
    return start + skippable.join(frames)


PLAIN = b"".join(records())
FORMS = {
    "a member a record": b"".join(map(gzip.compress, records())),
    "plain": PLAIN,
    "one member round all": gzip.compress(PLAIN),
    "members that end anywhere": gzip.compress(PLAIN[:200]) + gzip.compress(PLAIN[200:]),
    "a frame a record": zstandard(),
    "frames with a dictionary": zstandard(DICTIONARY),
    "frames with a packed dictionary": zstandard(DICTIONARY, packed_dictionary=True),
    "skippable frames between": zstandard(skippable=b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"),
}


def read(data):
    """Return the blocks of all complete records, and the reasons for unreadable parts."""
    records, reasons = [], []
    for record in ForeignWarc(io.BytesIO(data)):
        if not isinstance(record, ForeignRecord):
            reasons.append(record.reason)
            continue
        try:
            records.append(b"".join(iter(lambda block=record.block: block.read(1000), b"")))
        except ArchiverError as error:
            reasons.append(str(error))
    return records, reasons


def test_every_record_is_read_with_each_compression():
    for form in FORMS.values():
        assert read(form) == (BODIES, [])


@pytest.mark.parametrize("form", FORMS)
@given(st.data())
def test_a_truncated_file_gives_its_complete_records_and_a_message(form, data):
    whole = FORMS[form]
    end = data.draw(st.integers(1, len(whole) - 1))

    try:
        records, reasons = read(whole[:end])
    except ArchiverError:
        return  # a truncated dictionary: nothing can be read

    assert records == BODIES[: len(records)]
    assert reasons or len(records) < len(BODIES) or end > len(whole) - 30


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"WARC/1.1\r\n", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x5d*M\x18"]),
)
def test_any_file_is_read_or_refused_with_a_message(junk, start):
    try:
        records, reasons = read(start + junk)
    except ArchiverError as error:
        reasons, records = [str(error)], []

    assert records or reasons or not (start + junk).strip()


BAD_HEADS = {
    "a month alone is a date": (b"WARC-Date: 2014-01\r\n", True),
    "a year alone is a date": (b"WARC-Date: 2020\r\n", True),
    "a leap second": (b"WARC-Date: 2016-12-31T23:59:60Z\r\n", True),
    "nanoseconds": (b"WARC-Date: 2016-12-31T23:59:59.123456789Z\r\n", True),
    "a folded date": (b"WARC-Date:\r\n 2016-12-31T23:59:59Z\r\n", True),
    "a date that is none": (b"WARC-Date: yesterday\r\n", False),
    "a month that is none": (b"WARC-Date: 2014-13-01T00:00:00Z\r\n", False),
    "no date": (b"", False),
}


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", BAD_HEADS)
def test_an_invalid_date_loses_only_its_own_record(name, packed):
    date, is_good = BAD_HEADS[name]
    first, bad, *remaining = records()
    parts = [first, bad.replace(b"WARC-Date: 2020-01-02T03:04:05Z\r\n", date), *remaining]

    result, reasons = read(b"".join(gzip.compress(each) if packed else each for each in parts))

    assert len(result) == len(BODIES) - (not is_good)
    assert len(reasons) == (not is_good)
    assert is_good or "http://a.example/1" in reasons[0]


DAMAGED = {
    "no length": lambda head: head.replace(b"Content-Length", b"X-Length"),
    "a length that is none": lambda head: head.replace(b"Content-Length: ", b"Content-Length: x"),
    "a length below nothing": lambda head: head.replace(b"Content-Length: ", b"Content-Length: -"),
    "no version": lambda head: head.replace(b"WARC/1.1", b"CRAW/1.1", 1),
    "nothing but letters": lambda head: b"x" * 5000 + b"\n" + head[:0],
    "a head without end": lambda head: b"WARC/1.1\r\n" + b"X: y\r\n" * 20_000 + head[:0],
}


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", DAMAGED)
def test_the_record_after_an_unreadable_header_is_found(name, packed):
    parts = [*records([b"one", b"two", b"three"])]
    parts[1] = DAMAGED[name](parts[1])

    result, reasons = read(b"".join(gzip.compress(each) if packed else each for each in parts))

    assert result == [b"one", b"three"]
    assert len(reasons) == 1


def test_a_too_large_length_ends_with_its_member():
    one, two, three = records([b"one", b"two", b"three"])
    long = two.replace(b"Content-Length: 3", b"Content-Length: 3000")

    result, reasons = read(b"".join(map(gzip.compress, (one, long, three))))

    assert result == [b"one", b"three"]
    assert reasons == ["The record is truncated."]


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
@pytest.mark.parametrize("at", [12, -12])
def test_a_damaged_member_loses_only_its_own_record(pack, at):
    parts = [bytearray(pack(each)) for each in records([b"one", b"two" * 99, b"three"])]
    parts[1][at] ^= 0xFF

    result, reasons = read(b"".join(parts))

    assert result[0] == b"one"
    assert result[-1] == b"three"
    assert len(reasons) == 1


def test_a_file_whose_start_is_damaged_loses_only_its_first_record():
    parts = [gzip.compress(each) for each in records([b"one", b"two", b"three"])]
    for damaged in (b"J" + parts[0][1:], bytes(len(parts[0])), bytes(5000)):
        file = b"".join([damaged, *parts[1:]])

        result, reasons = read(file)

        assert (result, len(reasons)) == ([b"two", b"three"], 1)
        assert recognise(file, "a.warc.gz") is ArchiveForm.WARC


def test_damage_costs_no_record_after_it_in_the_bytes_read_ahead():
    """A decompressor that continues after an error must not consume later records."""
    for pack in [gzip.compress, zstd.compress]:
        source = Random(1)
        bodies = [source.randbytes(9_000).hex().encode() for _ in range(20)]
        parts = [bytearray(pack(each)) for each in records(bodies)]
        for place in (-12, len(parts[5]) // 2, 300):
            damaged = bytearray(parts[5])
            damaged[place] ^= 0xFF

            result, reasons = read(b"".join([*parts[:5], damaged, *parts[6:]]))

            assert [bodies.index(each) for each in result if each in bodies] == [
                *range(5),
                *range(6, 20),
            ]
            assert len(reasons) == 1 or pack is zstd.compress  # its frames have no checksum


def test_extra_bytes_in_a_member_are_not_part_of_the_next_record():
    one, two = records([b"one", b"two"])

    result, reasons = read(gzip.compress(one + b"and more without a newline") + gzip.compress(two))

    assert result == [b"one", b"two"]
    assert len(reasons) == 1


def test_empty_lines_between_records_are_skipped():
    between = b"\r\n" * 1000

    assert read(between + between.join(records()) + between) == (BODIES, [])


@pytest.mark.parametrize("version", ["0.17", "0.18", "1.0", "1.1"])
def test_every_version_line_end_and_letter_case_is_read(version):
    content = b"".join(records([b"one"], version=version))
    bare = content.replace(b"\r\n", b"\n").replace(b"WARC-", b"warc-").replace(b"Length", b"length")

    assert read(content) == read(bare) == ([b"one"], [])


def test_a_too_large_dictionary_is_refused():
    head = b"\x5d\x2a\x4d\x18" + (9 << 20).to_bytes(4, "little")

    with pytest.raises(ArchiverError, match="dictionary is larger"):
        ForeignWarc(io.BytesIO(head + b"0" * 100))


def test_a_decompression_bomb_ends_reading(monkeypatch):
    monkeypatch.setattr(decompression, "BASE_ALLOWANCE", 1 << 20)
    bomb = Warc()
    bomb.add("resource", "http://a.example/", b"\0" * (8 << 20))

    with pytest.raises(UnreadableFile, match="decompresses to more than"):
        read(bomb.bytes)


def test_a_frame_that_needs_too_much_memory_is_refused():
    options = {zstd.CompressionParameter.window_log: 30}
    packer = zstd.ZstdCompressor(options=options)
    wide = packer.compress(b"WARC/1.1\r\n" * 99) + packer.flush()

    records, reasons = read(wide)

    assert records == []
    assert "Zstandard" in reasons[0]


@pytest.mark.parametrize(("raw", "url"), [(b"\xc3\xa4", "\u00e4"), (b"\xe4", "%E4")])
def test_bytes_beyond_ascii_in_an_address_are_kept(raw, url):
    warc = PLAIN.replace(b"http://a.example/0", b"http://a.example/" + raw)
    arc = b"http://a.example/%b 1.2.3.4 20200101000000 text/plain 1\nx\n" % raw

    (first, *_), (other,) = ForeignWarc(io.BytesIO(warc)), ForeignArc(io.BytesIO(arc))

    assert first.target_uri == other.target_uri == f"http://a.example/{url}"
