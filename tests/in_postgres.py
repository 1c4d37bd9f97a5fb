"""Runs tests with the index in PostgreSQL: ``.ci/with-postgres pytest -p tests.in_postgres``.

Wherever a test opens an index in a file, it gets a database of its own instead, copied from one
that has the schema, and thrown away after the test. Rules of SQLite alone are left out.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url
from sqlalchemy.pool import NullPool

from archiver.archive import INDEX
from archiver.index.dialect import choice
from archiver.index.dialect.postgres_engines import PostgresEngines
from tests.prepared import WHEN_COPIED

SERVER = os.environ["ARCHIVER_TEST_SERVER"]
_TEMPLATE = f"archiver_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
_made: dict[Path, str] = {}
_kept: set[Path] = set()
"""What further copies are made of."""


def pytest_configure(config: pytest.Config) -> None:
    """Let every index of this process lie on the server from now on."""
    if getattr(config.option, "numprocesses", None):
        return  # the tests run in other processes
    administer(f"DROP DATABASE IF EXISTS {_TEMPLATE}", f"CREATE DATABASE {_TEMPLATE}")
    PostgresEngines(f"{SERVER}/{_TEMPLATE}").prepare()
    opened = choice.engines_of
    choice.engines_of = lambda place: opened(
        place if isinstance(place, str) else _address_of(place)
    )
    WHEN_COPIED.append(_copy)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is of SQLite alone."""
    apart = [each for each in items if each.get_closest_marker("sqlite")]
    config.hook.pytest_deselected(items=apart)
    items[:] = [each for each in items if each not in apart]


@pytest.fixture(autouse=True)
def _databases() -> Iterator[None]:
    """Throw away the databases that a test made."""
    before = {*_made}
    yield
    for path in {*_made} - before - _kept:
        administer(f"DROP DATABASE {_made.pop(path)} WITH (FORCE)")


def _address_of(path: Path) -> str:
    """The database that stands for a file: made when it is first opened."""
    if path not in _made:
        _make(path, _TEMPLATE)
    return f"{SERVER}/{_made[path]}"


def _make(path: Path, template: str) -> None:
    digest = hashlib.md5(str(path).encode(), usedforsecurity=False).hexdigest()
    _made[path] = name = f"{_TEMPLATE}_{digest[:16]}"
    administer(f"CREATE DATABASE {name} TEMPLATE {template}")


def _copy(source: Path, to: Path) -> None:
    """Copy the index of an archive, too."""
    if source / INDEX in _made:
        _kept.add(source / INDEX)
        _make(to / INDEX, _made[source / INDEX])


def administer(*statements: str) -> None:
    """Run statements as whoever owns the server, in no transaction."""
    address = make_url(SERVER).set(drivername="postgresql+pg8000", database="postgres")
    engine = create_engine(address, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as conn:
        for statement in statements:
            conn.exec_driver_sql(statement)
