"""What an index is in both engines: the same tables, and the same answers."""

import re
from collections.abc import AsyncIterator

import pytest
from alembic import command
from alembic.config import Config
from archiver.index.dialect.postgres_engines import PostgresEngines
from sqlalchemy import Engine, create_engine, inspect, text

from archiver.index.database import Database
from archiver.paths import MIGRATIONS


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


def excluded(engine: Engine, table: str, columns: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """What is unique, however long it is: PostgreSQL's word for that; names with columns."""
    if engine.dialect.name != "postgresql":
        return []
    asked = text(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contype = 'x' AND conrelid = CAST(:name AS REGCLASS)"
    )
    with engine.connect() as conn:
        rows = conn.execute(asked, {"name": f'"{table}"'}).all()
    return [
        (name, tuple(each for each in columns if re.search(rf"\b{each}\b", said)))
        for name, said in rows
    ]


def shape(engine: Engine) -> dict[str, object]:
    """Every table: its columns, its keys, what is unique, and its indices."""
    return {
        name: of_table(engine, name)
        for name in inspect(engine).get_table_names()
        if name != "alembic_version"
    }


def of_table(engine: Engine, name: str) -> dict[str, object]:
    found = inspect(engine)
    columns = found.get_columns(name)
    hashed = excluded(engine, name, [each["name"] for each in columns])
    keys = [list(of) for _, of in hashed if len(of) > 1]
    return {
        "columns": {
            each["name"]: (kind(each), each["nullable"], default(each)) for each in columns
        },
        "key": found.get_pk_constraint(name)["constrained_columns"] or keys[0],
        "unique": sorted(
            [
                *(tuple(each["column_names"]) for each in found.get_unique_constraints(name)),
                *(of for _, of in hashed if len(of) == 1),
            ]
        ),
        "leads": sorted(
            (*each["constrained_columns"], each["referred_table"])
            for each in found.get_foreign_keys(name)
        ),
        "indices": {
            each["name"]: (each["column_names"], bool(each["unique"]), predicate(each))
            for each in found.get_indexes(name)
            if "duplicates_constraint" not in each and each["name"] not in dict(hashed)
        },
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


def test_a_schema_of_before_becomes_that_of_now_on_a_server(address):
    """Revisions since the first that there was in PostgreSQL."""
    engines = PostgresEngines(address)
    engines.prepare()
    expected = shape(engines.reading())

    with engines.writing().connect() as conn:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = conn
        command.downgrade(config, "0027")
        conn.commit()
    assert excluded(engines.reading(), "entry_list", ["path"]) == []
    engines.prepare()

    assert shape(engines.reading()) == expected
