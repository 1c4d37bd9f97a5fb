"""What SQLAlchemy makes of a statement that was put down as terms: a recipe. This loads it.

A value gets a mark in its place. Where the mark is found again as a parameter, the parameter is
that value, whatever it is; a recipe in which one is not found again is of these values alone, and
is not kept.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import JSON, Boolean

from archiver import light
from archiver.index.core import whole
from archiver.index.core.recipe import CONSTANT, GIVEN, VALUE, WRITERS, Parameter, Recipe
from archiver.index.core.saying import said
from archiver.index.core.spelling import kind_of
from archiver.index.core.terms import Term

_NONCE = os.urandom(8).hex()
_SMALL, _LARGE = 1_610_612_736, 7_000_000_000_000_000
"""Numbers that no statement of ours has."""


class _Given:
    """Stands for what a statement is run with."""

    def __init__(self, name: str) -> None:
        self.name = name


def compiled(term: Term, values: Sequence[Any], given: Mapping[str, Any]) -> tuple[Recipe, bool]:
    """A recipe of a statement, and whether it is good for other values, too."""
    recipe = _marked(term, values, given)
    if recipe is not None and recipe.is_lasting():
        return recipe, True
    return _recipe(said(term), given, []), False


def _marked(term: Term, values: Sequence[Any], given: Mapping[str, Any]) -> Recipe | None:
    """The recipe, if each value is found again."""
    marks = [_mark(number, each) for number, each in enumerate(values)]
    try:
        statement = said(term, marks)
        recipe = _recipe(statement, {name: _Given(name) for name in given}, marks)
    except (SQLAlchemyError, AttributeError, TypeError, ValueError):
        return None
    found = {each.what for each in recipe.parameters if each.kind == VALUE}
    written = _NONCE in recipe.sql or any(
        str(each) in recipe.sql for each in marks if type(each) in (int, float)
    )
    return None if written or len(found) != len(marks) else recipe


def _mark(number: int, value: Any) -> Any:
    """What stands for a value: of the same type, and not the same as anything else."""
    kind = kind_of(value)
    if kind == "$w":
        return [_NONCE, number]
    text = f"{_NONCE}.{number}"
    marks = {
        "$s": text,
        "$u": f"\u00e9{text}",
        "$i": _SMALL + number,
        "$l": _LARGE + number,
        "$f": _LARGE + number + 0.5,
    }
    return marks[kind]


def _recipe(statement: Any, given: Mapping[str, Any], marks: Sequence[Any]) -> Recipe:
    dialect = _dialect()
    made = statement.compile(dialect=dialect, column_keys=sorted(given))
    if made.isinsert or made.isupdate or made.isdelete:
        light.give_up("a statement writes")
    columns = made._result_columns
    if columns and (made._loose_column_name_matching or not made._ordered_columns):
        light.give_up("columns are found by their names")
    state = made.construct_expanded_state(given)
    processors = {**made._bind_processors, **state.processors}
    parameters = tuple(
        _parameter(state.parameters[name], processors.get(name), marks)
        for name in state.positiontup
    )
    # Where the text is ours, its columns are called as SQLite calls them.
    names = () if made._textual_ordered_columns else tuple(each.keyname for each in columns)
    readers = tuple(_reader(each.type, dialect) for each in columns)
    return Recipe(state.statement, parameters, names, readers)


def _parameter(
    value: Any, processor: Callable[[Any], Any] | None, marks: Sequence[Any]
) -> Parameter:
    writer = _writer(processor)
    if isinstance(value, _Given):
        return Parameter(GIVEN, value.name, writer)
    for number, mark in enumerate(marks):
        if value is mark or (
            type(value) is type(mark) and type(mark) is not list and value == mark
        ):
            return Parameter(VALUE, number, writer)
    if isinstance(value, Enum) and isinstance(value, str):
        value = str.__str__(value)
    return Parameter(CONSTANT, value, writer)


def _writer(processor: Callable[[Any], Any] | None) -> str | Callable[[Any], Any]:
    if processor is None:
        return ""
    return next((name for name, each in WRITERS.items() if each is processor), processor)


def _reader(kind: Any, dialect: Any) -> str | Callable[[Any], Any]:
    processor: Callable[[Any], Any] | None = kind._cached_result_processor(dialect, None)
    if processor is None:
        return ""
    if isinstance(kind, JSON):
        return "json"
    return "bool" if isinstance(kind, Boolean) else processor


@cache
def _dialect() -> Any:
    """As it is once it is connected: it looks which SQLite it has."""
    engine = whole.create_engine("sqlite://")
    with engine.connect():
        return engine.dialect
