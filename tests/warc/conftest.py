"""A segment store with its own process lock."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from archiver.warc.locks import RunLock
from archiver.warc.segment_storage import SegmentStorage
from archiver.warc.segments import SegmentStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SegmentStore]:
    lock = RunLock(tmp_path / "run")
    opened = SegmentStore(
        SegmentStorage(tmp_path / "warc"),
        lock=lock,
        segment_bytes=1 << 30,
        software="archiver/test",
    )
    yield opened
    opened.close()
    lock.release()
