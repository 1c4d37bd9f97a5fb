"""The words of documents go to a server as it keeps them: as it would read them from a text."""

import pytest
from sqlalchemy import column, text
from sqlalchemy.dialects.postgresql import TSVECTOR

from archiver.index.dialect.postgres import Postgres
from archiver.index.dialect.postgres_engines import PostgresEngines
from archiver.index.dialect.postgres_words import COLUMN, vector
from archiver.index.dialect.rows import OverRows
from archiver.model.findable import Findable

INSERT = OverRows(text("INSERT INTO kept {rows}"), (column("words", TSVECTOR),))
LAST_PLACE, MOST_PLACES = 16_383, 255
FIRST_OF_TEXT = 607
"""Behind six columns without words."""


@pytest.fixture
def read(address):
    """What a server reads of documents, as it writes it; and what it reads of a text."""
    with PostgresEngines(address).writing().connect() as conn:
        conn.exec_driver_sql("CREATE TEMPORARY TABLE kept (words TSVECTOR)")

        def kept(*found):
            for batch in Postgres().batches(INSERT, [(vector(each),) for each in found]):
                conn.exec_driver_sql(*batch)
            return list(conn.execute(text("SELECT CAST(words AS TEXT) FROM kept")).scalars())

        def said(words):
            asked = text("SELECT CAST(CAST(:words AS TSVECTOR) AS TEXT)")
            return conn.execute(asked, {"words": words}).scalar_one()

        yield kept, said


def test_each_word_has_its_places_and_its_column(read):
    kept, said = read
    found = Findable(title="red fox", tags="red", text="the fox is red")

    assert kept(found, Findable()) == [
        said(
            f"'red':1A,103B,611 't{COLUMN}red':1A '^{COLUMN}red':1A 'g{COLUMN}red':103B"
            f" 'fox':2A,609 't{COLUMN}fox':2A 'the':608 'is':610"
        ),
        "",
    ]


@pytest.mark.parametrize("word", ["it's", "a\\b", "\0", "\x01", "ünïcödé", "😀"])
def test_any_word_is_kept_as_it_is(read, word):
    kept, said = read
    quoted = word.replace("\\", "\\\\").replace("'", "''")

    assert kept(Findable(text=word)) == [said(f"'{quoted}':{FIRST_OF_TEXT}")]


def test_places_are_kept_as_far_as_there_is_room_for_them(read):
    kept, said = read
    often = kept(Findable(text=" ".join(["often"] * 300)))
    far = kept(Findable(text=" ".join(["word"] * LAST_PLACE + ["late", "late"])))

    places = ",".join(str(FIRST_OF_TEXT + n) for n in range(MOST_PLACES))
    assert often == [said(f"'often':{places}")]
    assert said(f"'late':{LAST_PLACE}") in far[-1]


def test_more_words_than_a_vector_holds_are_kept_as_far_as_they_fit(read):
    kept, _ = read
    (found,) = kept(Findable(text=" ".join(f"different{n}" for n in range(200_000))))

    words = {each.partition(":")[0].strip("'") for each in found.split()}
    assert words == {f"different{n}" for n in range(len(words))}
    assert len(words) > 50_000
