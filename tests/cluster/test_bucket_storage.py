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
    return opened(store, tmp_path / "a")


@pytest.fixture
def other(store, tmp_path) -> BucketStorage:
    """The same bucket, as a machine with an empty disk sees it."""
    return opened(store, tmp_path / "b")


def opened(store, data: Path) -> BucketStorage:
    return open_bucket_storage(store.address, data / "warc", data / "uploaded")


def written(storage: BucketStorage, *texts: str) -> list[Location]:
    """A closed segment with a record for each text."""
    store = writer(storage)
    made = [
        warc_writer.metadata(id=new_record_id(), url="urn:test", date=NOW, document={"said": each})
        for each in texts
    ]
    places = store.append(made)
    store.sync()
    store.close()
    store.lock.release()
    return places


def writer(storage: BucketStorage) -> SegmentStore:
    lock = RunLock(storage.directory.parent / "run")
    return SegmentStore(storage, lock=lock, segment_bytes=1 << 30, software="archiver/test")


def said(storage: BucketStorage, place: Location) -> str:
    store = writer(storage)
    try:
        return store.read(place).block.read().decode()
    finally:
        store.lock.release()


def test_a_machine_with_an_empty_disk_reads_uploaded_records(storage, other):
    places = written(storage, "one", "two")
    storage.upload(places[0].segment)

    assert [said(other, place) for place in places] == ['{"said":"one"}', '{"said":"two"}']
    assert not other.directory.exists()


def test_a_segment_without_a_complete_record_is_uploaded_empty(storage, other):
    (place,) = written(storage, "one")
    path = storage.directory / place.segment
    path.write_bytes(path.read_bytes()[:100])
    assert storage.cut_truncated_tail(place.segment, from_offset=0, is_writer_known=True) == 0

    storage.upload(place.segment)

    assert other.size(place.segment) == 0
    assert [*other.scan(place.segment)] == []
    with pytest.raises(StoreError):
        said(other, place)


def test_an_uploaded_segment_leaves_the_folder_and_stays_as_a_copy(storage, store):
    (place,) = written(storage, "one")
    storage.upload(place.segment)

    assert list(storage.directory.iterdir()) == []
    assert [path.name for path in storage.uploaded.iterdir()] == [place.segment]
    assert store.names() == [place.segment]
    assert said(storage, place) == '{"said":"one"}'


def test_the_oldest_copies_are_removed_down_to_a_size(storage):
    places = [written(storage, str(number))[0] for number in range(3)]
    for place in places:
        storage.upload(place.segment)
    _, *newer = sorted(storage.uploaded.iterdir())

    storage.forget(sum(path.stat().st_size for path in newer))

    assert sorted(storage.uploaded.iterdir()) == newer
    assert [said(storage, place) for place in places] == [f'{{"said":"{n}"}}' for n in range(3)]


def test_a_segment_that_is_not_uploaded_has_a_clear_error_elsewhere(storage, other):
    (place,) = written(storage, "one")

    with pytest.raises(StoreUnavailable, match="another machine has not uploaded it"):
        said(other, place)


def test_a_segment_stays_if_the_uploaded_bytes_differ(storage, store):
    (place,) = written(storage, "one")
    store.proxy.spoil = lambda data: data[:-1] + b"?"

    with pytest.raises(StoreError, match="different content"):
        storage.upload(place.segment)

    assert (storage.directory / place.segment).exists()


def test_an_upload_interrupted_before_its_mark_is_finished(storage, store):
    (place,) = written(storage, "one")
    storage.bucket.create(place.segment, storage.directory / place.segment)

    storage.upload(place.segment)

    assert list(storage.directory.iterdir()) == []
    assert store.proxy.count("PUT") == 2


def test_an_object_with_other_bytes_is_not_overwritten(storage, store, tmp_path):
    (place,) = written(storage, "one")
    strange = tmp_path / "strange"
    strange.write_bytes(b"strange")
    storage.bucket.create(place.segment, strange)

    with pytest.raises(StoreError, match="different content"):
        storage.upload(place.segment)

    assert store.read(place.segment) == b"strange"
    assert (storage.directory / place.segment).exists()
    assert [each.name for each in storage.survey().unusable_files] == [place.segment]


def test_nothing_changes_if_the_store_rejects_an_upload(storage, store):
    (place,) = written(storage, "one")
    for status in (500, 503, 507):
        store.proxy.failing = {"PUT": status}
        with pytest.raises(StoreUnavailable, match=str(status)):
            storage.upload(place.segment)

    store.proxy.failing = {}
    assert store.names() == []
    storage.upload(place.segment)
    assert store.names() == [place.segment]


def test_a_survey_has_local_and_uploaded_segments_once(storage, other):
    here, there = written(storage, "here")[0].segment, written(storage, "there")[0].segment
    storage.upload(there)

    assert [each.name for each in storage.survey().segments] == sorted([here, there])
    assert [each.name for each in storage.survey_local().segments] == [here]
    assert [each.name for each in other.survey().segments] == [there]


def test_other_objects_in_the_bucket_are_reported_and_stay(storage, store):
    store.write("note.txt", b"hello")

    assert [each.name for each in storage.survey().unusable_files] == ["note.txt"]


def test_a_scan_reads_an_uploaded_segment_to_its_end(storage, other):
    texts = [str(number) * 3000 for number in range(200)]
    places = written(storage, *texts)
    storage.upload(places[0].segment)

    found = [each.place() for each in other.scan(places[0].segment) if isinstance(each, Scanned)]

    assert found[1:] == places


def test_a_block_is_requested_once(storage, other, store):
    places = written(storage, "one", "two", "three")
    storage.upload(places[0].segment)
    store.proxy.asked.clear()

    for place in places * 3:
        said(other, place)

    assert [method for method, _ in store.proxy.asked] == ["GET"]


def test_a_record_of_many_blocks_is_read_completely(storage, other):
    text = "".join(chr(33 + (n * n * 7919) % 90) for n in range(3 * BLOCK_BYTES))
    (place,) = written(storage, text)
    storage.upload(place.segment)

    assert said(other, place) == said(storage, place)
    copied = b"".join(other.copy(place.segment, place.offset, place.length))
    assert copied == b"".join(storage.copy(place.segment, place.offset, place.length))


def test_a_segment_is_removed_from_everywhere(storage, other, store):
    (place,) = written(storage, "one")
    size = (storage.directory / place.segment).stat().st_size
    storage.upload(place.segment)

    assert storage.remove(place.segment) == size
    assert (store.names(), list(storage.uploaded.iterdir())) == ([], [])
    assert other.remove(place.segment) == 0


def test_a_wrong_clock_has_a_clear_error(storage, store, tmp_path):
    (place,) = written(storage, "one")
    store.proxy.failing, store.proxy.code = {"GET": 403, "PUT": 403}, "RequestTimeTooSkewed"

    for asked in (lambda: storage.upload(place.segment), lambda: opened(store, tmp_path)):
        with pytest.raises(StoreUnavailable, match="clock"):
            asked()


def test_a_segment_stays_if_the_bucket_was_deleted(storage, store):
    (place,) = written(storage, "one")
    store.drop()

    with pytest.raises(StoreUnavailable, match="bucket"):
        storage.upload(place.segment)
    with pytest.raises(StoreUnavailable, match="bucket"):
        storage.survey()
    assert [path.name for path in storage.directory.iterdir()] == [place.segment]
    assert said(storage, place) == '{"said":"one"}'


@pytest.mark.parametrize("method", ["PUT", "GET"])
def test_a_segment_compacted_during_its_upload_is_removed_again(storage, store, method):
    (place,) = written(storage, "one")
    path = storage.directory / place.segment

    store.proxy.heard = lambda heard: path.unlink(missing_ok=True) if heard == method else None
    storage.upload(place.segment)

    assert store.names() == []


def test_a_segment_compacted_before_its_upload_is_not_uploaded(storage, store):
    (place,) = written(storage, "one")
    (storage.directory / place.segment).unlink()

    storage.upload(place.segment)

    assert store.names() == []
