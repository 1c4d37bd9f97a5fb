"""Databases of a server that stand for files, in this process and in those it starts.

Which one stands for which file lies in a file that all processes of a test read and write by turns.
What a test leaves is emptied and given to another, if not enough are empty already.
"""

import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from pg8000.dbapi import DatabaseError

from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from tests.in_children import kept_connections

SERVER = os.environ["ARCHIVER_TEST_SERVER"]
TEMPLATE = "ARCHIVER_TEST_TEMPLATE"
"""The variable that names the database that has the schema."""
STATE = "ARCHIVER_TEST_DATABASES"
"""That names the file in which they lie."""
OWN = "ARCHIVER_TEST_OWN_INDICES"
"""That is set while a test says itself where its indices lie."""
SPARE = 4
"""So many are kept empty for tests to come: one takes 10 MB."""
_SHAPE = """
SELECT string_agg(c.relname || ' ' || c.relkind::text || ' ' || coalesce(a.attname, ''), ','
                  ORDER BY c.relname, a.attname)
FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.relnamespace = 'archiver'::regnamespace
"""
"""What there is, and how it is called."""
_EMPTY = """
DO $$
DECLARE each TEXT; filled TEXT; size BIGINT;
BEGIN
  SET LOCAL session_replication_role = replica;
  DROP SCHEMA IF EXISTS archiver_new CASCADE;
  COMMENT ON SCHEMA archiver IS NULL;
  FOR each IN SELECT oid::regclass FROM pg_class
    WHERE relnamespace = 'archiver'::regnamespace AND relkind = 'r' AND relname ~ '^search_[0-9]+$'
  LOOP EXECUTE 'DROP TABLE ' || each; END LOOP;
  FOR each, size IN SELECT oid::regclass, pg_relation_size(oid) FROM pg_class
    WHERE relnamespace = 'archiver'::regnamespace AND relkind = 'r'
      AND relname <> 'alembic_version'
  LOOP
    IF size > 262144 THEN filled := concat_ws(', ', filled, each);
    ELSIF size > 0 THEN EXECUTE 'DELETE FROM ' || each;
    END IF;
  END LOOP;
  IF filled IS NOT NULL THEN EXECUTE 'TRUNCATE ' || filled || ' CASCADE'; END IF;
  FOR each IN SELECT seqrelid::regclass FROM pg_sequence
    WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
  LOOP EXECUTE format('ALTER SEQUENCE %s RESTART', each); END LOOP;
END $$
"""
_shapes: list[str] = []


def engines_over(opened: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What opens an index in place of ``dialect.choice.engines_of``."""

    def engines_of(place: Any) -> Any:
        is_own = isinstance(place, str) or OWN in os.environ
        return opened(place if is_own else address_of(place))

    return engines_of


def address_of(path: Path) -> str:
    """The database that stands for a file: one that is empty, when it is first opened."""
    with _state() as state:
        name = state["taken"].get(_key(path))
        if name is None:
            name = _take(state, path, empty=True)
            if name not in state["made"]:
                _make(state, name, os.environ[TEMPLATE])
    return f"{SERVER}/{name}"


def copy(source: Path, to: Path) -> bool:
    """Let a copy of what stands for one file stand for another; whether anything did."""
    with _state() as state:
        name = state["taken"].get(_key(source))
        if name is not None:
            _make(state, _take(state, to, empty=False), name)
        return name is not None


def taken() -> set[str]:
    """The paths for which databases stand."""
    with _state() as state:
        return {*state["taken"]}


def forget(paths: Collection[str]) -> None:
    """Let databases stand for these no more."""
    if not paths:
        return
    with _state() as state:
        for path in paths:
            name = state["taken"].pop(path)
            if len(state["free"]) < SPARE and _emptied(name):
                state["free"].append(name)
            else:
                state["made"].remove(name)
                kept_connections.forget(name)
                administer(f"DROP DATABASE {name} WITH (FORCE)")


def administer(*statements: str) -> None:
    """Run statements as whoever owns the server, in no transaction."""
    _in("postgres", *statements)


def is_ours(database: str) -> bool:
    """Whether a database stands for a file, or did."""
    return database.startswith(f"{os.environ[TEMPLATE]}_")


_connect = kept_connections.kept(connect, lambda name: name == "postgres" or is_ours(name))


def _in(database: str, *statements: str) -> Any:
    """What the last of some statements gives."""
    with closing(_connect(read_address(f"{SERVER}/{database}"))) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchone()[0] if cursor.description else None


def _key(path: Path) -> str:
    return str(path.absolute())


def _take(state: dict[str, Any], path: Path, *, empty: bool) -> str:
    """A name for what stands for a file; that of an empty database where one is wanted."""
    if empty and state["free"]:
        name = state["free"].pop()
    else:
        state["count"] += 1
        name = f"{os.environ[TEMPLATE]}_{state['count']}"
    state["taken"][_key(path)] = name
    return str(name)


def _make(state: dict[str, Any], name: str, template: str) -> None:
    kept_connections.forget(template)  # nobody may be in what is copied
    administer(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    state["made"].append(name)


def _emptied(name: str) -> bool:
    """Empty a database; whether it is as a new one then."""
    if not _shapes:
        _shapes.append(str(_in(os.environ[TEMPLATE], _SHAPE)))
    others = (
        f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        f" WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        f" AND pid <> ALL (ARRAY{kept_connections.idle(name)}::INT[])"
    )
    try:
        return bool(_in(name, others, _EMPTY, _SHAPE) == _shapes[0])
    except DatabaseError:
        return False


@contextmanager
def _state() -> Iterator[dict[str, Any]]:
    """What lies in the file, which is written back; one process has it at a time."""
    with Path(os.environ[STATE]).open("a+", encoding="ascii") as file:
        flock(file, LOCK_EX)
        file.seek(0)
        state = json.loads(file.read() or '{"taken": {}, "free": [], "made": [], "count": 0}')
        before = json.dumps(state)
        try:
            yield state
        finally:
            if json.dumps(state) != before:
                file.truncate(0)
                file.write(json.dumps(state))
