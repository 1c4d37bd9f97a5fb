"""Damage hides no later record, and records inside damaged records are not used."""

import gzip
import io
import os
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from archiver.errors import StoreError
from archiver.warc.segment_scanning import Damage, scan
from archiver.warc.writer import write_record
from tests.stored_records import records


def read(path):
    """Return the offset of each complete record of a file, and its damaged ranges."""
    whole, damage = [], []
    for each in scan(path, from_offset=0):
        if isinstance(each, Damage):
            damage.append(each)
            continue
        with suppress(StoreError):
            whole.append(each.place().offset)
    return whole, damage


def test_damage_hides_no_later_record(store):
    places = store.append(records((b"a" * 500, False), (b"b" * 500, False)))
    path = store.directory / places[0].segment
    damaged = bytearray(path.read_bytes())
    damaged[places[0].offset + places[0].length // 2] ^= 0xFF
    path.write_bytes(damaged)

    whole, damage = read(path)

    assert [each.location.offset for each in damage] == [places[0].offset]
    assert not damage[0].is_truncated
    assert {place.offset for place in places[1:]} <= set(whole)


def record_bytes(payload):
    """Return a response record as one gzip member."""
    sink = io.BytesIO()
    write_record(records((payload, False))[0], sink)
    return sink.getvalue()


def stored_verbatim(tmp_path):
    """Return a file of three records, and the offset and length of the second.

    Its payload contains forged records byte for byte, because a compressor stores incompressible
    data unchanged.
    """
    forged = record_bytes(b"forged")
    payload = b"".join(os.urandom(3000) + forged for _ in range(30))
    members = [record_bytes(b"before"), record_bytes(payload), record_bytes(b"after")]
    members[1] = gzip.compress(gzip.decompress(members[1]), compresslevel=0, mtime=0)
    path = tmp_path / "archiver.warc.gz"
    path.write_bytes(b"".join(members))
    assert members[1].count(forged) > 20
    return path, len(members[0]), len(members[1])


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9, 0.999])
def test_a_record_inside_a_truncated_record_is_ignored(tmp_path, share):
    path, start, length = stored_verbatim(tmp_path)
    path.write_bytes(path.read_bytes()[: start + int(length * share)])

    whole, damage = read(path)

    assert whole == [0]
    assert [(each.location.offset, each.is_truncated) for each in damage] == [(start, True)]


def test_a_record_inside_a_damaged_record_is_ignored(tmp_path):
    path, start, length = stored_verbatim(tmp_path)
    data = bytearray(path.read_bytes())
    data[start + length - 6] ^= 1
    path.write_bytes(data)

    whole, damage = read(path)

    assert [(each.location.offset, each.location.length) for each in damage] == [(start, length)]
    assert whole == [0, start + length]


@bounds(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    content=st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=300).map(lambda data: b"\x1f\x8b\x08\x00" + data),
        st.binary(max_size=300).map(lambda data: record_bytes(b"x") + data),
    )
)
def test_any_bytes_are_records_or_damage(tmp_path, content):
    path = tmp_path / "any.warc.gz"
    path.write_bytes(content)

    whole, damage = read(path)

    assert sum(each.location.length for each in damage) <= len(content)
    assert not content or whole or damage


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path):
    for path in (tmp_path / "gone.warc.gz", tmp_path):
        with pytest.raises(StoreError):
            read(path)
