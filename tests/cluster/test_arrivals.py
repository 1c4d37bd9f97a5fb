"""Files on their way in lie in a bucket in pieces, beside the segments and not among them."""

import pytest

from archiver.errors import StoreUnavailable
from archiver.store import arrivals
from archiver.store.bucket_shelf import open_bucket_shelf

DATA = b"0123456789"


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
    shelf.arrivals.keep("a", given)
    shelf.arrivals.keep("ab", given)

    shelf.arrivals.bring("a", tmp_path / "tmp" / "back.look")

    assert store.names()[:3] == [f"uploads/a/{number}-3" for number in (1, 2, 3)]
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == ["back.look"]
    assert (tmp_path / "tmp" / "back.look").read_bytes() == DATA
    shelf.arrivals.remove("a")
    assert [*shelf.arrivals.all()] == ["ab"]


def test_half_of_a_file_is_none(store, shelf, given, tmp_path):
    shelf.arrivals.keep("a", given)
    store.remove("uploads/a/2-3")

    assert not shelf.arrivals.has("a")
    with pytest.raises(FileNotFoundError):
        shelf.arrivals.bring("a", tmp_path / "back")
    assert [*shelf.arrivals.all()] == ["a"], "and is found by whoever sweeps"


def test_a_file_that_the_store_gives_back_changed_is_not_kept(store, shelf, given):
    store.fickle.spoil = bytes.swapcase
    shelf.arrivals.keep("a", given)
    store.fickle.spoil = lambda data: data.replace(b"9", b"8")

    with pytest.raises(StoreUnavailable, match="gave back other bytes"):
        shelf.arrivals.keep("a", given)


def test_what_is_on_its_way_in_is_no_segment_and_nothing_strange(shelf, given):
    shelf.arrivals.keep("a", given)

    found = shelf.survey()

    assert (found.segments, found.passed_by) == ((), ())
