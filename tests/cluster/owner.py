"""An index as whoever owns the database sees it, who waits for no writer's turn."""

from contextlib import closing

from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect


def as_owner(address: str, statement: str) -> list[tuple]:
    """The rows of a statement, which is committed by itself."""
    with closing(connect(read_address(address))) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute("SET search_path = archiver")
        cursor.execute(statement)
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []


def silence_all(address: str) -> None:
    """Let the lease of every process be over."""
    as_owner(address, "UPDATE writer SET beat_ms = 0")
