"""Segments that can be compacted."""

import pytest

from archiver.crawl.compaction import why_not_uploadable
from tests.segments import segment_store
from tests.stored_records import ALL_KINDS, records


@pytest.fixture
def store(tmp_path):
    with segment_store(tmp_path) as opened:
        yield opened


def test_a_segment_can_be_compacted_once_its_writer_has_closed_it(store):
    def why():
        indexed = {each.name: each.size for each in inventory}
        return why_not_uploadable(inventory[0], inventory, indexed, store)

    store.append(records(*ALL_KINDS))
    inventory = store.storage.survey().segments
    while_open = why()
    store.close()
    closed = why()
    store.append(records(*ALL_KINDS))
    since = why()

    assert while_open == "It is being written by a running process."
    assert (closed, since) == ("", "")


def test_a_segment_just_created_is_not_compacted_before_its_writer_opens_it(store):
    store.append(records(*ALL_KINDS))
    store.close()
    (first,) = store.storage.survey().segments
    path = store.directory / first.name.replace("-00001.", "-00002.")
    path.touch()
    inventory = store.storage.survey().segments

    whys = [
        why_not_uploadable(each, inventory, {first.name: first.size}, store) for each in inventory
    ]

    assert whys == ["", "It is being written by a running process."]
