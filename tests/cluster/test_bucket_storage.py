"""Segments in a folder and a bucket: all states, and faults of the store."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from archiver.errors import StoreError, StoreUnavailable
from archiver.model.capture import Location
from archiver.warc import writer as warc_writer
from archiver.warc.locks import RunLock
from archiver.warc.object_store import BLOCK_BYTES, BucketStorage, open_bucket_storage
from archiver.warc.records import new_record_id
from archiver.warc.segment_scanning import Scanned
from archiver.warc.segments import SegmentStore

NOW = datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC)


@pytest.fixture
def storage(store, tmp_path) -> BucketStorage:
    return open_storage(store, tmp_path / "a")


@pytest.fixture
def other(store, tmp_path) -> BucketStorage:
    """The same bucket, as a machine with an empty disk sees it."""
    return open_storage(store, tmp_path / "b")


def open_storage(store, data: Path) -> BucketStorage:
    return open_bucket_storage(store.address, data / "warc", data / "uploaded")


def append_records(storage: BucketStorage, *texts: str) -> list[Location]:
    """A closed segment with a record for each text."""
    store = writer(storage)
    built = [
        warc_writer.metadata(id=new_record_id(), url="urn:test", date=NOW, document={"said": each})
        for each in texts
    ]
    locations = store.append(built)
    store.sync()
    store.close()
    store.lock.release()
    return locations


def writer(storage: BucketStorage) -> SegmentStore:
    lock = RunLock(storage.directory.parent / "run")
    return SegmentStore(storage, lock=lock, segment_bytes=1 << 30, software="archiver/test")


def read_record(storage: BucketStorage, location: Location) -> str:
    store = writer(storage)
    try:
        return store.read(location).block.read().decode()
    finally:
        store.lock.release()


def test_a_machine_with_an_empty_disk_reads_uploaded_records(storage, other):
    locations = append_records(storage, "one", "two")
    storage.upload(locations[0].segment)

    assert [read_record(other, location) for location in locations] == [
        '{"said":"one"}',
        '{"said":"two"}',
    ]
    assert not other.directory.exists()


def test_a_segment_without_a_complete_record_is_uploaded_empty(storage, other):
    (location,) = append_records(storage, "one")
    path = storage.directory / location.segment
    path.write_bytes(path.read_bytes()[:100])
    assert storage.cut_truncated_tail(location.segment, from_offset=0, is_writer_known=True) == 0

    storage.upload(location.segment)

    assert other.size(location.segment) == 0
    assert [*other.scan(location.segment)] == []
    with pytest.raises(StoreError):
        read_record(other, location)


def test_an_uploaded_segment_leaves_the_folder_and_stays_as_a_copy(storage, store):
    (location,) = append_records(storage, "one")
    storage.upload(location.segment)

    assert list(storage.directory.iterdir()) == []
    assert [path.name for path in storage.uploaded.iterdir()] == [location.segment]
    assert store.names() == [location.segment]
    assert read_record(storage, location) == '{"said":"one"}'


def test_the_oldest_copies_are_removed_down_to_a_size(storage):
    locations = [append_records(storage, str(number))[0] for number in range(3)]
    for location in locations:
        storage.upload(location.segment)
    _, *newer = sorted(storage.uploaded.iterdir())

    storage.forget(sum(path.stat().st_size for path in newer))

    assert sorted(storage.uploaded.iterdir()) == newer
    assert [read_record(storage, location) for location in locations] == [
        f'{{"said":"{n}"}}' for n in range(3)
    ]


def test_a_segment_that_is_not_uploaded_has_a_clear_error_elsewhere(storage, other):
    (location,) = append_records(storage, "one")

    with pytest.raises(StoreUnavailable, match="another machine has not uploaded it"):
        read_record(other, location)


def test_a_segment_stays_if_the_uploaded_bytes_differ(storage, store):
    (location,) = append_records(storage, "one")
    store.proxy.spoil = lambda data: data[:-1] + b"?"

    with pytest.raises(StoreError, match="different content"):
        storage.upload(location.segment)

    assert (storage.directory / location.segment).exists()


def test_an_upload_interrupted_before_its_mark_is_finished(storage, store):
    (location,) = append_records(storage, "one")
    storage.bucket.create(location.segment, storage.directory / location.segment)

    storage.upload(location.segment)

    assert list(storage.directory.iterdir()) == []
    assert store.proxy.count("PUT") == 2


def test_an_object_with_other_bytes_is_not_overwritten(storage, store, tmp_path):
    (location,) = append_records(storage, "one")
    strange = tmp_path / "strange"
    strange.write_bytes(b"strange")
    storage.bucket.create(location.segment, strange)

    with pytest.raises(StoreError, match="different content"):
        storage.upload(location.segment)

    assert store.read(location.segment) == b"strange"
    assert (storage.directory / location.segment).exists()
    assert [each.name for each in storage.survey().unusable_files] == [location.segment]


def test_nothing_changes_if_the_store_rejects_an_upload(storage, store):
    (location,) = append_records(storage, "one")
    for status in (500, 503, 507):
        store.proxy.failing = {"PUT": status}
        with pytest.raises(StoreUnavailable, match=str(status)):
            storage.upload(location.segment)

    store.proxy.failing = {}
    assert store.names() == []
    storage.upload(location.segment)
    assert store.names() == [location.segment]


def test_a_survey_has_local_and_uploaded_segments_once(storage, other):
    local, uploaded = (
        append_records(storage, "here")[0].segment,
        append_records(storage, "there")[0].segment,
    )
    storage.upload(uploaded)

    assert [each.name for each in storage.survey().segments] == sorted([local, uploaded])
    assert [each.name for each in storage.survey_local().segments] == [local]
    assert [each.name for each in other.survey().segments] == [uploaded]


def test_other_objects_in_the_bucket_are_reported_and_stay(storage, store):
    store.write("note.txt", b"hello")

    assert [each.name for each in storage.survey().unusable_files] == ["note.txt"]


def test_a_scan_reads_an_uploaded_segment_to_its_end(storage, other):
    texts = [str(number) * 3000 for number in range(200)]
    locations = append_records(storage, *texts)
    storage.upload(locations[0].segment)

    results = [
        each.place() for each in other.scan(locations[0].segment) if isinstance(each, Scanned)
    ]

    assert results[1:] == locations


def test_a_block_is_requested_once(storage, other, store):
    locations = append_records(storage, "one", "two", "three")
    storage.upload(locations[0].segment)
    store.proxy.requests.clear()

    for location in locations * 3:
        read_record(other, location)

    assert [method for method, _ in store.proxy.requests] == ["HEAD", "GET"]


def test_a_record_of_many_blocks_is_read_completely(storage, other):
    text = "".join(chr(33 + (n * n * 7919) % 90) for n in range(3 * BLOCK_BYTES))
    (location,) = append_records(storage, text)
    storage.upload(location.segment)

    assert read_record(other, location) == read_record(storage, location)
    copied = b"".join(other.copy(location.segment, location.offset, location.length))
    assert copied == b"".join(storage.copy(location.segment, location.offset, location.length))


def test_a_segment_is_removed_from_everywhere(storage, other, store):
    (location,) = append_records(storage, "one")
    size = (storage.directory / location.segment).stat().st_size
    storage.upload(location.segment)

    assert storage.remove(location.segment) == size
    assert (store.names(), list(storage.uploaded.iterdir())) == ([], [])
    assert other.remove(location.segment) == 0


def test_a_wrong_clock_has_a_clear_error(storage, store, tmp_path):
    (location,) = append_records(storage, "one")
    store.proxy.failing, store.proxy.code = {"GET": 403, "PUT": 403}, "RequestTimeTooSkewed"

    for request in (
        lambda: storage.upload(location.segment),
        lambda: open_storage(store, tmp_path),
    ):
        with pytest.raises(StoreUnavailable, match="clock"):
            request()


def test_a_segment_stays_if_the_bucket_was_deleted(storage, store):
    (location,) = append_records(storage, "one")
    store.drop()

    with pytest.raises(StoreUnavailable, match="bucket"):
        storage.upload(location.segment)
    with pytest.raises(StoreUnavailable, match="bucket"):
        storage.survey()
    assert [path.name for path in storage.directory.iterdir()] == [location.segment]
    assert read_record(storage, location) == '{"said":"one"}'


@pytest.mark.parametrize("method", ["PUT", "GET"])
def test_a_segment_compacted_during_its_upload_is_removed_again(storage, store, method):
    (location,) = append_records(storage, "one")
    path = storage.directory / location.segment

    store.proxy.heard = lambda heard, _: path.unlink(missing_ok=True) if heard == method else None
    storage.upload(location.segment)

    assert store.names() == []


def test_a_segment_compacted_before_its_upload_is_not_uploaded(storage, store):
    (location,) = append_records(storage, "one")
    (storage.directory / location.segment).unlink()

    storage.upload(location.segment)

    assert store.names() == []
