"""What SQLite refuses, as SQLAlchemy says it; where that is not loaded, these stand for its own."""

import sqlite3


class DBAPIError(Exception):
    """What a driver raised, which is ``orig``."""

    def __init__(self, orig: sqlite3.Error) -> None:
        super().__init__(str(orig))
        self.orig = orig


class DatabaseError(DBAPIError):
    """What a database refused."""


class OperationalError(DatabaseError):
    """What it can't do now."""


def told_by(error: sqlite3.Error) -> DBAPIError:
    """An error of the driver, as an error of these."""
    if isinstance(error, sqlite3.OperationalError):
        return OperationalError(error)
    return (DatabaseError if isinstance(error, sqlite3.DatabaseError) else DBAPIError)(error)
