"""Where words of some documents are looked for."""

from datetime import UTC, datetime

from archiver.db.query_sql import Setting
from archiver.db.schema import PART_SIZE


def test_words_are_looked_for_in_each_part_between_its_own_documents_and_in_no_part_without_any():
    setting = Setting(datetime(2026, 1, 1, tzinfo=UTC), [3, 2, 1, 0])

    own = setting.of_documents([2 * PART_SIZE + 9, 7, 5, 2 * PART_SIZE + 3])

    assert own.documents == {0: (5, 7), 2: (2 * PART_SIZE + 3, 2 * PART_SIZE + 9)}
    assert sorted(own.parts) == [0, 2]
    assert setting.of_documents([]).parts == ()
