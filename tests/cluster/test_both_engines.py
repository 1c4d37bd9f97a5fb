"""What an index is in both engines: the same tables, and the same answers."""

import re
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import Engine, create_engine, inspect, text

from archiver.index.database import Database
from archiver.index.dialect.postgres_engines import PostgresEngines


@pytest.fixture
async def both(address, tmp_path) -> AsyncIterator[tuple[Database, Database]]:
    opened = [await Database.open(place) for place in (tmp_path / "archive.sqlite3", address)]
    yield tuple(opened)
    for each in opened:
        await each.close()


def kind(column) -> str:
    """What a column holds, in a word for both."""
    named = str(column["type"]).upper()
    return {"BIGINT": "INTEGER", "BYTEA": "BLOB"}.get(named, re.sub(r" COLLATE.*|\(.*", "", named))


def default(column) -> str | None:
    """What stands in a column of which nothing is said; what only counts rows is none."""
    said = re.sub(r"::\w+", "", column["default"] or "")
    return None if said.startswith("nextval") else said or None


def predicate(index) -> str:
    """Which rows an index is of, as both write it alike."""
    options = index["dialect_options"]
    where = str(options.get("sqlite_where", options.get("postgresql_where", "")))
    where = re.sub(r"= ANY \(+ARRAY\[(.*?)\]\)*", r"IN \1", where)
    return re.sub(r"::\w+|[()\"]", "", where).replace("<>", "!=").strip()


def shape(engine: Engine) -> dict[str, object]:
    """Every table: its columns, its keys, what is unique, and its indices."""
    found = inspect(engine)
    return {
        name: {
            "columns": {
                each["name"]: (kind(each), each["nullable"], default(each))
                for each in found.get_columns(name)
            },
            "key": found.get_pk_constraint(name)["constrained_columns"],
            "unique": sorted(
                tuple(each["column_names"]) for each in found.get_unique_constraints(name)
            ),
            "leads": sorted(
                (*each["constrained_columns"], each["referred_table"])
                for each in found.get_foreign_keys(name)
            ),
            "indices": {
                each["name"]: (each["column_names"], bool(each["unique"]), predicate(each))
                for each in found.get_indexes(name)
                if "duplicates_constraint" not in each
            },
        }
        for name in found.get_table_names()
        if name != "alembic_version"
    }


async def test_both_engines_have_the_same_tables(both, address, tmp_path):
    of_file = create_engine(f"sqlite:///{tmp_path / 'archive.sqlite3'}")
    of_server = PostgresEngines(address).reading()

    expected, found = shape(of_file), shape(of_server)

    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name] == expected[name], name


async def test_all_text_on_a_server_sorts_by_its_code_points(both, address):
    collations = text(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'archiver' AND data_type IN ('text', 'character varying')"
        " AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'alembic_version'"
    )
    with PostgresEngines(address).reading().connect() as conn:
        assert conn.execute(collations).all() == []


async def test_no_number_on_a_server_is_narrower_than_those_of_a_file(both, address):
    narrow = text(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'archiver' AND data_type IN ('integer', 'smallint', 'real')"
    )
    with PostgresEngines(address).reading().connect() as conn:
        assert conn.execute(narrow).all() == []
