"""Runs tests with the index in PostgreSQL: ``.ci/with-postgres pytest -p tests.in_postgres``.

Wherever a test, or a process that it starts, opens an index in a file, it gets a database of its
own instead, copied from one that has the schema, and thrown away after the test. Rules of SQLite
alone are left out, and what opens no index; tests of ``cluster`` say themselves which of their
indices lie where.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from archiver.archive import INDEX
from archiver.index.dialect import choice, postgres_engines
from archiver.index.dialect.postgres_engines import PostgresEngines
from tests.in_children.kept_connections import kept
from tests.in_children.stand_in import (
    OWN,
    SERVER,
    STATE,
    TEMPLATE,
    administer,
    copy,
    engines_over,
    forget,
    is_ours,
    taken,
)
from tests.indices import BENEATH, TESTS, why
from tests.prepared import WHEN_COPIED

__all__ = ["SERVER", "administer"]

_kept: set[str] = set()
"""What further copies are made of."""


def pytest_configure(config: pytest.Config) -> None:
    """Let every index of this process, and of those it starts, lie on the server from now on."""
    if getattr(config.option, "numprocesses", None):
        return  # the tests run in other processes
    template = f"archiver_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    os.environ[TEMPLATE] = template
    folder = TemporaryDirectory(prefix="archiver-tests-")
    config.add_cleanup(folder.cleanup)
    os.environ[STATE] = f"{folder.name}/databases"
    administer(f"DROP DATABASE IF EXISTS {template}", f"CREATE DATABASE {template}")
    PostgresEngines(f"{SERVER}/{template}").prepare()
    postgres_engines.connect = kept(postgres_engines.connect, is_ours)
    choice.engines_of = engines_over(choice.engines_of)
    WHEN_COPIED.append(_copy)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what would be the same again."""
    is_ours = collection_path.is_relative_to(TESTS)
    return (is_ours and collection_path.relative_to(TESTS).as_posix() in BENEATH) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is of SQLite alone, and says why."""
    apart = [each for each in items if (mark := each.get_closest_marker("sqlite")) and why(mark)]
    config.hook.pytest_deselected(items=apart)
    items[:] = [each for each in items if each not in apart]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let files be files to tests that have a server of their own accord."""
    os.environ.pop(OWN, None)
    if item.path.is_relative_to(TESTS / "cluster"):
        os.environ[OWN] = "1"


@pytest.fixture(autouse=True)
def _databases() -> Iterator[None]:
    """Take back the databases that a test had."""
    before = taken()
    yield
    forget(taken() - before - _kept)


def _copy(source: Path, to: Path) -> None:
    """Copy the index of an archive, too."""
    if copy(source / INDEX, to / INDEX):
        _kept.add(str((source / INDEX).absolute()))
