"""A segment store with its own process lock."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from archiver.warc.segments import SegmentStore
from tests.segments import segment_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SegmentStore]:
    with segment_store(tmp_path) as opened:
        yield opened
