"""What is imported of ``archiver.index.core`` where SQLAlchemy is not loaded."""

import sys
from collections.abc import Callable
from typing import Any

from archiver import light
from archiver.index.core import columns, errors
from archiver.index.core.terms import Attribute, Call, Definition, Name, Term


class _Unsaid(Name):
    """What is no part of a statement: it opens, writes or changes an index."""

    def __call__(self, *_: object, **__: object) -> Call:
        light.give_up(f"{self._name} is wanted")

    def __getattr__(self, name: str) -> Attribute:
        light.give_up(f"{self._name} is wanted")


class _Metadata(Name):
    """``MetaData``: one that a module makes is known by its place, and so are its tables."""

    def __call__(self, *given: object, **named: object) -> Call:
        frame = sys._getframe(1)  # whoever calls
        is_fixed = frame.f_code.co_name == "<module>"
        place = f"{frame.f_globals['__name__']}:{frame.f_lineno}" if is_fixed else None
        return Call(self, given, named, place)


class _Table(Name):
    """``Table``: no two of a ``MetaData`` have the same name."""

    def __call__(self, *given: object, **named: object) -> Call:
        name, metadata, *_ = given
        leaf = metadata._leaf if type(metadata) is Call else None
        return Call(self, given, named, None if leaf is None else f"{leaf}/{name}")


def _compiles(term: Term, *engines: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Keep how a definition of ours is written; of what is SQLAlchemy's own nothing is compiled."""

    def keep(written: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(term, Definition):
            term._rules.append((engines, written))
        return written

    return keep


_OTHERS: dict[str, Any] = {
    "DBAPIError": errors.DBAPIError,
    "DatabaseError": errors.DatabaseError,
    "OperationalError": errors.OperationalError,
    "MetaData": _Metadata("MetaData"),
    "Table": _Table("Table"),
    "compiles": _compiles,
}
__all__ = ["columns", "named"]
_UNSAID = ("create_engine", "create_mock_engine", "event", "sqlite_dialect")


NAMES = frozenset(
    """
    BigInteger BindParameter CTE ClauseElement Column ColumnElement CompoundSelect
    Connection Constraint CreateIndex CreateTable CursorResult DBAPIError DDLCompiler
    DatabaseError Dialect DropTable Engine Executable ExecutableDDLElement ForeignKey
    FullyBufferedCursorFetchStrategy FunctionElement Index Insert Integer JSON Join
    LargeBinary MetaData NullPool NullType OperationalError PrimaryKeyConstraint Row
    SQLCompiler SchemaItem Select Subquery Table Text TextClause TypeDecorator TypeEngine
    TypedReturnsRows UniqueConstraint Update UserDefinedType and_ bindparam case cast
    column compiles create_engine create_mock_engine delete event exists false func insert
    literal literal_column not_ null or_ select sqlite_dialect table text true tuple_
    union union_all update
    """.split()
)
"""All that ``whole`` has."""


def named(name: str) -> Any:
    """What is imported under a name."""
    if name not in NAMES:
        raise AttributeError(name, name=name)
    if name not in _OTHERS:
        _OTHERS[name] = _Unsaid(name) if name in _UNSAID else Name(name)
    return _OTHERS[name]
