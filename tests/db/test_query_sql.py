"""Document ranges of the index parts in which words are searched."""

from datetime import UTC, datetime

from archiver.db.query_sql import SearchContext
from archiver.db.schema import PART_SIZE


def test_each_part_is_searched_within_a_range_of_documents():
    context = SearchContext(datetime(2026, 1, 1, tzinfo=UTC), [3, 2, 1, 0])

    own = context.of_documents([2 * PART_SIZE + 9, 7, 5, 2 * PART_SIZE + 3])

    assert own.ranges == {0: (5, 7), 2: (2 * PART_SIZE + 3, 2 * PART_SIZE + 9)}
    assert sorted(own.parts) == [0, 2]
    assert context.of_documents([]).parts == ()
