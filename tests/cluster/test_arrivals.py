"""Files on their way in lie in a bucket in pieces, beside the segments and not among them."""

import os

import pytest

from archiver.errors import StoreUnavailable
from archiver.store import arrivals
from archiver.store.bucket_shelf import open_bucket_shelf

DATA = b"0123456789"
A, B = "a" * 32, "a" * 31 + "b"


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(arrivals, "PIECE_BYTES", 4)


@pytest.fixture
def given(tmp_path):
    path = tmp_path / "given"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def shelf(store, tmp_path):
    (tmp_path / "warc").mkdir()
    return open_bucket_shelf(store.address, tmp_path / "warc", tmp_path / "uploaded")


def test_a_file_that_was_kept_comes_back_whole_and_goes_whole(store, shelf, given, tmp_path):
    shelf.arrivals.keep(A, given)
    shelf.arrivals.keep(B, given)

    shelf.arrivals.bring(A, tmp_path / "tmp" / "back.look")

    assert store.names()[:3] == [f"uploads/{A}/{number}-3" for number in (1, 2, 3)]
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == ["back.look"]
    assert (tmp_path / "tmp" / "back.look").read_bytes() == DATA
    shelf.arrivals.remove(A)
    assert [*shelf.arrivals.all()] == [B]


def test_half_of_a_file_is_none(store, shelf, given, tmp_path):
    shelf.arrivals.keep(A, given)
    store.remove(f"uploads/{A}/2-3")

    assert not shelf.arrivals.has(A)
    with pytest.raises(FileNotFoundError):
        shelf.arrivals.bring(A, tmp_path / "back")
    assert [*shelf.arrivals.all()] == [A], "and is found by whoever sweeps"


def test_a_file_that_the_store_gives_back_changed_is_not_kept(store, shelf, given):
    store.fickle.spoil = bytes.swapcase
    shelf.arrivals.keep(A, given)
    store.fickle.spoil = lambda data: data.replace(b"9", b"8")

    with pytest.raises(StoreUnavailable, match="gave back other bytes"):
        shelf.arrivals.keep(A, given)


def test_what_is_on_its_way_in_is_no_segment_and_nothing_strange(shelf, given):
    shelf.arrivals.keep(A, given)

    found = shelf.survey()

    assert (found.segments, found.passed_by) == ((), ())


def test_what_others_have_in_that_folder_is_no_file_of_ours_and_stays(store, shelf, given):
    shelf.arrivals.keep(A, given)
    others = ["uploads/photos/1-2", f"uploads/{A}/mine.jpg", f"uploads/uploads/{A}/1-1"]
    for name in others:
        store.write(name, b"others")

    assert [*shelf.arrivals.all()] == [A]
    shelf.empty()

    assert store.names() == sorted(others)


def test_a_copy_is_on_the_disk_before_it_has_its_name(shelf, given, tmp_path, monkeypatch):
    shelf.arrivals.keep(A, given)
    copy, synced = tmp_path / "copy", []
    sync = os.fsync

    def noting(file):
        synced.append((os.fstat(file).st_size, copy.exists()))
        sync(file)

    monkeypatch.setattr(os, "fsync", noting)
    shelf.arrivals.bring(A, copy)

    assert synced == [(len(DATA), False)]
