"""Connections that read an index in SQLite, by ``sqlite3`` alone where a statement is known."""

import sqlite3
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

from archiver import light
from archiver.index.core.errors import DBAPIError, told_by
from archiver.index.core.kept import KeptRecipes
from archiver.index.core.light_rows import LightResult, row_of
from archiver.index.core.recipe import READERS, Recipe
from archiver.index.core.spelling import NotSpelled, Spelling
from archiver.index.core.terms import Term


class LightEngine:
    """Opens them; what is compiled meanwhile is kept when it is closed.

    Args:
        path: of the index.
        directory: where recipes are kept.
        prepare: sets a new connection up.
    """

    def __init__(
        self, path: Path, directory: Path, prepare: Callable[[sqlite3.Connection], None]
    ) -> None:
        self._path = path
        self._prepare = prepare
        self._kept = KeptRecipes(directory)
        self._lock = Lock()

    def connect(self) -> "LightConnection":
        """A connection that reads."""
        try:
            opened = sqlite3.connect(
                self._path.absolute(), check_same_thread=False, isolation_level=None
            )
            self._prepare(opened)
        except sqlite3.Error as error:
            raise told_by(error) from error
        return LightConnection(opened, self)

    def dispose(self) -> None:
        """Keep what was compiled."""
        with self._lock:
            self._kept.save()

    def found(
        self, term: Term, given: Mapping[str, Any], *, afresh: bool = False
    ) -> tuple[Recipe, list[Any]]:
        """How a statement is run, and the values in it."""
        with self._lock:
            try:
                spelling = Spelling(term, given)
            except NotSpelled:
                return _compiled(term, [], given)[0], []
            text, values = spelling.text, spelling.values
            if afresh:
                self._kept.forget(text)
            if (recipe := self._kept.get(text)) is None:
                recipe, is_lasting = _compiled(term, values, given)
                if is_lasting:
                    self._kept.put(text, recipe)
            return recipe, values


def _compiled(term: Term, values: list[Any], given: Mapping[str, Any]) -> tuple[Recipe, bool]:
    found: tuple[Recipe, bool] = import_module("archiver.index.core.compiling").compiled(
        term, values, given
    )
    return found


class LightConnection:
    """One connection, as far as the index uses one of SQLAlchemy's."""

    def __init__(self, opened: sqlite3.Connection, engine: LightEngine) -> None:
        self._opened = opened
        self._engine = engine

    def execute(self, statement: object, parameters: Any = None) -> LightResult:
        """Run a statement; its rows are all there."""
        if not isinstance(statement, Term) or not isinstance(parameters, dict | None):
            light.give_up("a statement that is no term")
        given = parameters or {}
        recipe, values = self._engine.found(statement, given)
        try:
            return self._result(recipe, values, given)
        except (LookupError, TypeError, ValueError, DBAPIError):
            if not recipe.is_kept:
                raise
        # What was kept may be wrong, or somebody's joke: what is wrong is SQLAlchemy's to say.
        recipe, values = self._engine.found(statement, given, afresh=True)
        return self._result(recipe, values, given)

    def _result(self, recipe: Recipe, values: list[Any], given: Mapping[str, Any]) -> LightResult:
        cursor = self._run(recipe.sql, recipe.bound(values, given))
        return _result(cursor, recipe)

    def exec_driver_sql(self, statement: str, parameters: Any = None) -> LightResult:
        """Run a statement in SQLite's own words."""
        return _result(self._run(statement, parameters or ()), None)

    def _run(self, sql: str, parameters: Any) -> sqlite3.Cursor:
        try:
            self.begin()
            return self._opened.execute(sql, parameters)
        except sqlite3.Error as error:
            raise told_by(error) from error

    def begin(self) -> None:
        """Begin a transaction, unless it is begun."""
        if not self._opened.in_transaction:
            self._opened.execute("BEGIN")

    def rollback(self) -> None:
        """End a transaction, if one is begun."""
        if self._opened.in_transaction:
            self._opened.rollback()

    commit = rollback

    def close(self) -> None:
        """Close it."""
        self._opened.close()

    invalidate = close

    def __getattr__(self, name: str) -> Any:
        light.give_up(f"{name} of a connection is wanted")


def _result(cursor: sqlite3.Cursor, recipe: Recipe | None) -> LightResult:
    try:
        rows = cursor.fetchall()
    except sqlite3.Error as error:
        raise told_by(error) from error
    described = [each[0].rpartition(".")[2] for each in cursor.description or ()]
    names = (recipe and recipe.names) or tuple(described)
    if len(names) != len(described):
        raise ValueError("other columns than are told of")
    row = row_of(names)
    if recipe and any(recipe.readers):
        readers = [READERS.get(each) if isinstance(each, str) else each for each in recipe.readers]
        rows = [
            [read(value) if read else value for read, value in zip(readers, each, strict=True)]
            for each in rows
        ]
    return LightResult(names, [row(each) for each in rows])
