"""Which engine an index is opened with: a file is SQLite's, an address PostgreSQL's."""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from archiver.errors import ConfigurationError
from archiver.index.dialect.postgres_address import is_one_place
from archiver.index.dialect.sqlite_engines import SqliteEngines

__all__ = ["engines_of", "is_one_place"]

if TYPE_CHECKING:
    from archiver.index.dialect.port import Engines


def engines_of(place: Path | str) -> "Engines":
    """What opens the index at a place; PostgreSQL's half is loaded only where it is asked for.

    Raises:
        ConfigurationError: an address that can't be understood, or its driver is not installed.
    """
    if isinstance(place, Path):
        return SqliteEngines(place)
    try:
        import_module("pg8000")
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"An index in PostgreSQL needs a driver: run `{sys.executable} -m pip install pg8000`."
        ) from error
    engines = import_module("archiver.index.dialect.postgres_engines")
    opened: Engines = engines.PostgresEngines(place)
    return opened
