"""Segments: what the field's checker says of them, and what a killed writer leaves."""

import asyncio
import io
import os
import resource
import sys
from asyncio.subprocess import PIPE, STDOUT
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from archiver.errors import StoreError
from archiver.model.capture import Location
from archiver.model.exchange import Exchange
from archiver.store import scanning
from archiver.store.locks import RunLock, living
from archiver.store.segments import SegmentStore
from archiver.warc import build
from archiver.warc.digest import digest_of
from archiver.warc.record import RecordType, new_record_id
from archiver.warc.verify import verify_record

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
    made = []
    for payload, chunked in payloads:
        kept, ids = exchange(payload, chunked=chunked), (new_record_id(), new_record_id())
        made.append(build.response(kept, id=ids[0], request_id=ids[1]))
        made.append(build.request(kept, id=ids[1], response_id=ids[0]))
    original = build.Original(record_id=made[0].id, url=URL, date=NOW)
    again = exchange(payloads[0][0])
    made.append(
        build.revisit(again, id=new_record_id(), request_id=new_record_id(), refers_to=original)
    )
    made.append(
        build.conversion(
            id=new_record_id(),
            url="urn:archiver:x:article",
            date=NOW,
            refers_to=made[0].id,
            content_type="text/html; charset=utf-8",
            block="é".encode(),
        )
    )
    made.append(
        build.metadata(id=new_record_id(), url="urn:archiver:x", date=NOW, document={"é": 1})
    )
    return made


ALL_KINDS = ((b"hello " * 900, False), (b"hello", True), (b"", False), (os.urandom(3 << 20), False))


@pytest.fixture
def store(tmp_path):
    lock = RunLock(tmp_path / "run")
    opened = SegmentStore(tmp_path / "warc", lock=lock, segment_bytes=1 << 30, software="test")
    yield opened
    opened.close()
    lock.release()


async def test_the_field_s_checker_passes_every_kind_of_record(store):
    places = store.append(records(*ALL_KINDS))
    store.sync()

    checking = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "warcio.cli",
        "check",
        str(store.directory / places[0].segment),
        stdout=PIPE,
        stderr=STDOUT,
    )
    told, _ = await checking.communicate()

    assert (checking.returncode, told) == (0, b"")


def test_every_record_is_read_back_where_it_lies(store):
    written = records(*ALL_KINDS)
    places = store.append(written)

    read = [store.read(place) for place in places]

    assert [each.id for each in read] == [each.id for each in written]
    assert [verify_record(each) for each in read] == [[]] * len(read)


def test_a_segment_is_closed_once_it_is_large_enough(tmp_path):
    lock = RunLock(tmp_path / "run")
    store = SegmentStore(tmp_path / "warc", lock=lock, segment_bytes=2000, software="test")
    places = [store.append(records((b"x", False)))[0] for _ in range(4)]
    store.close()
    lock.release()

    assert len({place.segment for place in places}) > 1
    assert all(store.read(place).type is RecordType.RESPONSE for place in places)


def test_a_batch_that_finds_the_disk_full_leaves_every_segment_as_it_was(tmp_path):
    """Also where it went on into further segments; the files that were open then are closed."""
    lock = RunLock(tmp_path / "run")
    store = SegmentStore(tmp_path / "warc", lock=lock, segment_bytes=60_000, software="test")
    (before,) = store.append([records((b"x", False))[0]])
    store.sync()
    size = (store.directory / before.segment).stat().st_size
    descriptors = len([*Path("/proc/self/fd").iterdir()])
    large = [records((os.urandom(40_000), False))[0] for _ in range(4)]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, limits[1]))
    try:
        for _ in range(3):
            with pytest.raises(StoreError):
                store.append([*large, records((os.urandom(300_000), False))[0]])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert [each.name for each in store.directory.iterdir()] == [before.segment]
    assert (store.directory / before.segment).stat().st_size == size
    assert len([*Path("/proc/self/fd").iterdir()]) == descriptors - 1
    (after,) = store.append([records((b"y", False))[0]])
    assert store.read(after).type is RecordType.RESPONSE
    store.close()
    lock.release()


def test_a_place_without_a_record_is_an_error(store):
    (place, *_) = store.append(records((b"x", False)))

    for wrong in (Location("gone.warc.gz", 0, 1), Location(place.segment, place.offset + 3, 9)):
        with pytest.raises(StoreError):
            store.read(wrong)


@pytest.fixture
def whole(store):
    """The bytes of a segment, and where its records end."""
    places = store.append(records((b"some words " * 50, False), (b"more", True)))
    data = (store.directory / places[0].segment).read_bytes()
    return data, [0, *(place.offset for place in places), len(data)]


@bounds(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(share=st.floats(0, 1))
def test_a_torn_end_is_cut_after_the_last_complete_record(whole, tmp_path, share):
    data, ends = whole
    cut = int(share * len(data))
    torn = tmp_path / "torn.warc.gz"
    torn.write_bytes(data[:cut])

    size = scanning.cut_torn_tail(torn, from_offset=0)

    assert size == torn.stat().st_size == max(end for end in ends if end <= cut)


def test_damage_in_the_middle_hides_and_cuts_nothing_behind_it(store):
    places = store.append(records((b"a" * 500, False), (b"b" * 500, False)))
    path = store.directory / places[0].segment
    damaged = bytearray(path.read_bytes())
    damaged[places[0].offset + places[0].length // 2] ^= 0xFF
    path.write_bytes(damaged)

    found = list(scanning.scan(path, from_offset=0))

    damage = [each for each in found if isinstance(each, scanning.Damage)]
    assert [each.location.offset for each in damage] == [places[0].offset]
    assert len(found) == len(places) + 1
    assert scanning.cut_torn_tail(path, from_offset=0) == len(damaged)


def test_a_flipped_bit_is_found(store):
    (place, *_) = store.append(records((b"words " * 99, False)))
    path = store.directory / place.segment
    damaged = bytearray(path.read_bytes())
    damaged[place.offset + place.length - 6] ^= 1
    path.write_bytes(damaged)

    with pytest.raises(StoreError):
        store.read(place).finish()


def test_a_process_is_alive_as_long_as_its_lock_is_held(tmp_path):
    mine, other = RunLock(tmp_path), RunLock(tmp_path)
    assert mine.is_alive(other.name)
    assert living(tmp_path) == sorted([mine.name, other.name])

    other.release()
    (tmp_path / "dead.lock").touch()

    assert not mine.is_alive(other.name)
    assert not mine.is_alive("dead")
    mine.sweep()
    assert [path.name for path in tmp_path.glob("*.lock")] == [f"{mine.name}.lock"]
    mine.release()
