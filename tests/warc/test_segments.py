"""Segments: validity for other tools, reading back, and full disks."""

import asyncio
import os
import resource
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest

from archiver.errors import StoreError
from archiver.model.capture import Location
from archiver.warc.locks import RunLock
from archiver.warc.reader import Verification, open_payload
from archiver.warc.records import RecordType
from archiver.warc.segments import SegmentReader
from tests.segments import segment_store
from tests.stored_records import ALL_KINDS, records


def verify_record(record):
    """Read a whole record; return its problems as sentences."""
    verification = Verification(record)
    if record.type is RecordType.RESPONSE:
        try:
            _, payload = open_payload(record)
            for _ in verification.payload(payload):
                pass
        except StoreError as error:
            return [str(error)]
    return verification.problems()


async def test_warcio_check_accepts_every_kind_of_record(store):
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
    output, _ = await checking.communicate()

    assert (checking.returncode, output) == (0, b"")


def test_every_record_is_read_back_from_its_place(store):
    written = records(*ALL_KINDS)
    places = store.append(written)

    read = [store.read(place) for place in places]

    assert [each.id for each in read] == [each.id for each in written]
    assert [verify_record(each) for each in read] == [[]] * len(read)


def test_a_reader_finds_the_same_records_and_opens_each_segment_once(store, monkeypatch):
    written = [*records(*ALL_KINDS), *records(*ALL_KINDS)]
    places = store.append(written[: len(ALL_KINDS)])
    store.close()
    places += store.append(written[len(ALL_KINDS) :])
    opened: list[str] = []
    opens = store.storage.open
    monkeypatch.setattr(store.storage, "open", lambda name: opened.append(name) or opens(name))

    read = SegmentReader(store).read

    assert [verify_record(read(place)) for place in places] == [[]] * len(places)
    assert opened == [*dict.fromkeys(place.segment for place in places)]


def test_a_segment_is_closed_once_it_is_large_enough(tmp_path):
    with segment_store(tmp_path, segment_bytes=2000) as store:
        places = [store.append(records((b"x", False)))[0] for _ in range(4)]

    assert len({place.segment for place in places}) > 1
    assert all(store.read(place).type is RecordType.RESPONSE for place in places)


def test_a_full_disk_leaves_every_segment_unchanged(tmp_path):
    """Also if it continued in further segments; open files are closed."""
    with segment_store(tmp_path, segment_bytes=60_000) as store:
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


def test_reading_a_place_without_a_record_is_an_error(store):
    (place, *_) = store.append(records((b"x", False)))
    os.mkfifo(store.directory / "pipe.warc.gz")
    (store.directory / "folder.warc.gz").mkdir()

    for wrong in (
        Location("gone.warc.gz", 0, 1),
        Location("pipe.warc.gz", 0, 1),
        Location("folder.warc.gz", 0, 1),
        Location(place.segment, place.offset + 3, 9),
    ):
        with pytest.raises(StoreError):
            store.read(wrong)


def test_a_flipped_bit_is_detected(store):
    (place, *_) = store.append(records((b"words " * 99, False)))
    path = store.directory / place.segment
    damaged = bytearray(path.read_bytes())
    damaged[place.offset + place.length - 6] ^= 1
    path.write_bytes(damaged)

    with pytest.raises(StoreError):
        store.read(place).finish()


def test_a_process_is_alive_while_its_lock_is_held(tmp_path):
    mine, other = RunLock(tmp_path), RunLock(tmp_path)
    assert mine.is_alive(other.name)

    other.release()
    (tmp_path / "dead.lock").touch()

    assert not mine.is_alive(other.name)
    assert not mine.is_alive("dead")
    assert mine.is_abandoned("dead")
    assert not mine.is_abandoned("never")
    mine.remove_dead()
    assert not mine.is_abandoned("dead")
    assert [path.name for path in tmp_path.glob("*.lock")] == [f"{mine.name}.lock"]
    mine.release()
