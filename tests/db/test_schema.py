import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from archiver.db.engine import Database, index_at
from archiver.db.schema import HEAD, metadata
from archiver.errors import ConfigurationError, IndexOutdated
from archiver.helpers import MIGRATIONS

pytestmark = pytest.mark.sqlite


def config_on(connection=None):
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def shapes(connection):
    """Return every table and index of SQLite in one spelling, with sorted columns.

    SQLite puts a column that was added later after the constraints.
    """
    rows = connection.execute(
        text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    )
    return {
        name: sorted(
            " ".join(sql.replace('"', "").split()).replace("( ", "(").replace(" )", ")").split(", ")
        )
        for name, sql in rows
        if name != "alembic_version"
    }


@pytest.fixture
def connection(tmp_path):
    """A connection to a file created by migrations."""
    engine = create_engine(f"sqlite:///{tmp_path / 'archive.sqlite3'}")
    with engine.connect() as opened:
        command.upgrade(config_on(opened), "head")
        opened.commit()
        yield opened
    engine.dispose()


def test_the_schema_version_is_the_newest_migration():
    assert ScriptDirectory.from_config(config_on()).get_heads() == [HEAD]


def test_migrations_create_exactly_the_tables_of_the_schema(connection, tmp_path):
    without_words = {"include_name": lambda name, *_: not (name or "").startswith("full_text")}
    context = MigrationContext.configure(connection, opts=without_words)
    fresh = create_engine(f"sqlite:///{tmp_path / 'fresh.sqlite3'}")
    with fresh.begin() as other:
        metadata.create_all(other)
        expected = shapes(other)
    fresh.dispose()

    assert compare_metadata(context, metadata) == []
    assert shapes(connection) == expected


def test_a_new_index_equals_a_fully_migrated_one(connection, tmp_path):
    index_at(tmp_path / "new.sqlite3").prepare()
    engine = create_engine(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    with engine.connect() as new:
        names = inspect(new).get_table_names()

        assert names == inspect(connection).get_table_names()
        assert shapes(new) == shapes(connection)
        for name in names:
            rows = text(f'SELECT * FROM "{name}"')
            assert new.execute(rows).all() == connection.execute(rows).all()
    engine.dispose()


REFUSED = {
    "9999": (ConfigurationError, "newer version"),
    "0038": (IndexOutdated, "Run `archiver reindex`"),
    **dict.fromkeys(
        ("0000", "abc", "", "00011"), (ConfigurationError, "Use the version that wrote it")
    ),
}


async def test_an_index_of_another_version_is_refused(connection, tmp_path):
    for revision, (error, message) in REFUSED.items():
        connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
        connection.commit()

        with pytest.raises(error, match=message):
            await Database.open(tmp_path / "archive.sqlite3")


async def test_a_file_that_is_not_a_database_has_a_clear_error(tmp_path):
    path = tmp_path / "archive.sqlite3"
    path.write_bytes(b"something else entirely" * 100)

    with pytest.raises(ConfigurationError, match="archiver reindex"):
        await Database.open(path)


async def test_a_directory_at_the_place_of_the_index_has_a_clear_error(tmp_path):
    with pytest.raises(ConfigurationError, match=r"is a directory.*Move"):
        await Database.open(tmp_path)
