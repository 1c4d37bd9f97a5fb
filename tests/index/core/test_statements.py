"""What is put down as terms is what SQLAlchemy would have been told, whatever values it has."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine

from archiver import light
from archiver.index import core
from archiver.index.core import whole
from archiver.index.core.compiling import compiled
from archiver.index.core.names import NAMES, named
from archiver.index.core.recipe import Recipe, read
from archiver.index.core.spelling import Spelling, fixed
from archiver.model.job import State

_Written = Callable[[SimpleNamespace, list[Any]], Any]


def language(take: Callable[[str], Any], metadata: Any) -> SimpleNamespace:
    """The names of SQLAlchemy's Core, and two tables and two functions written with them."""
    sa = SimpleNamespace(**{name: take(name) for name in NAMES})
    sa.entry = sa.Table(
        "entry",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, server_default=""),
        sa.Column("size", sa.BigInteger),
    )
    sa.tag = sa.Table(
        "tag",
        metadata,
        sa.Column("entry_id", sa.ForeignKey("entry.id"), primary_key=True),
        sa.Column("word", sa.Text),
    )
    sa.words = sa.text("SELECT entry_id, word FROM tag").columns(sa.tag.c.entry_id, sa.tag.c.word)
    return sa


TERMS = language(named, named("MetaData")())
WHOLE = language(lambda name: getattr(whole, name), whole.MetaData())
ENGINE = create_engine("sqlite://")
with ENGINE.connect():
    DIALECT = ENGINE.dialect


def told(statement: Any, given_: Mapping[str, Any]) -> tuple[str, list[Any], list[str]]:
    """The SQL, the parameters and the names of the columns that SQLAlchemy itself makes."""
    made = statement.compile(dialect=DIALECT, column_keys=sorted(given_))
    state = made.construct_expanded_state(given_)
    writers = {**made._bind_processors, **state.processors}
    values = [(state.parameters[name], writers.get(name)) for name in state.positiontup]
    names = [each.keyname for each in made._result_columns]
    return state.statement, [write(each) if write else each for each, write in values], names


def kept(term: Any, given_: Mapping[str, Any]) -> tuple[Recipe, Spelling]:
    """The recipe of a statement, as another process reads it."""
    spelling = Spelling(term, given_)
    recipe, is_lasting = compiled(term, spelling.values, given_)
    assert is_lasting
    return read(recipe.written()), spelling


STATEMENTS: Mapping[str, _Written] = {
    "columns": lambda sa, v: sa.select(sa.entry.c.id, sa.entry.c.name).where(sa.entry.c.id == v[0]),
    "a column that is called as its table": lambda sa, v: sa.select(sa.entry).where(
        sa.entry.c["name"] != v[1]
    ),
    "operators": lambda sa, v: sa.select(sa.entry.c.size + v[0], v[0] - sa.entry.c.size).where(
        (sa.entry.c.size > v[0]) | ~(sa.entry.c.name <= v[1]) & (-sa.entry.c.size < v[0])
    ),
    "lists": lambda sa, v: sa.select(sa.entry.c.id).where(
        sa.entry.c.id.in_([v[0], v[0] + 1]), sa.entry.c.name.not_in((v[1],)), sa.entry.c.id.in_([])
    ),
    "several at once": lambda sa, v: sa.select(sa.entry.c.id).where(
        sa.tuple_(sa.entry.c.size, sa.entry.c.id) < (v[0], v[0])
    ),
    "functions": lambda sa, v: sa.select(
        sa.func.coalesce(sa.func.nullif(sa.entry.c.name, v[1]), v[1]).label("shown"),
        sa.func.count().filter(sa.entry.c.size.between(v[0], v[0])),
        sa.func.dense_rank().over(order_by=sa.entry.c.size.desc().nulls_last()).label("rank"),
    ),
    "cases": lambda sa, v: sa.select(
        sa.case((sa.entry.c.id == v[0], v[1]), (sa.entry.c.id > 7, "more"), else_="none")
    ),
    "casts": lambda sa, v: sa.select(
        sa.cast(sa.entry.c.id, sa.Text).concat(" ").concat(v[1]),
        sa.cast(sa.entry.c.name, sa.Integer().with_variant(sa.BigInteger(), "sqlite")),
    ),
    "limits": lambda sa, v: (
        sa.select(sa.entry.c.id).order_by(sa.entry.c.id).limit(v[0]).offset(v[0])
    ),
    "the same one twice": lambda sa, v: sa.union_all(
        sa.select((few := sa.select(sa.entry.c.id).where(sa.entry.c.name == v[1]).subquery()).c.id),
        sa.select(few.c.id).where(few.c.id > v[0]),
    ),
    "two alike": lambda sa, v: sa.union(
        *(sa.select(sa.select(sa.entry.c.id).where(sa.entry.c.id < v[0]).subquery()) for _ in "ab")
    ),
    "one that is recursive": lambda sa, v: sa.select(
        (own := sa.select(sa.func.min(sa.entry.c.id).label("n")).cte("own", recursive=True))
        .union_all(sa.select(own.c.n + 1).where(own.c.n < v[0]))
        .c.n.label("n")
    ),
    "a join": lambda sa, _: (
        sa.select(sa.entry.c.id, sa.tag.c.word)
        .outerjoin(sa.tag, sa.tag.c.entry_id == sa.entry.c.id)
        .where(sa.tag.c.word.is_not(None))
    ),
    "whether there is any": lambda sa, v: sa.select(sa.entry.c.id).where(
        sa.select(sa.tag.c.word)
        .where(sa.tag.c.entry_id == sa.entry.c.id, sa.tag.c.word == v[1])
        .exists(),
        sa.and_(sa.true(), sa.or_(sa.false(), sa.not_(sa.entry.c.size.is_(None)))),
    ),
    "one within another": lambda sa, v: sa.select(
        sa.select(sa.func.max(sa.tag.c.word))
        .where(sa.tag.c.entry_id == sa.entry.c.id, sa.tag.c.word > v[1])
        .correlate(sa.entry)
        .scalar_subquery()
        .label("last")
    ),
    "text": lambda sa, v: sa.text("SELECT :it AS it").bindparams(sa.bindparam("it", v[1])),
    "rows that are given": lambda sa, v: sa.select(
        *sa.words.cte("pairs").c, sa.literal_column("1", sa.Integer), sa.null()
    ).where(sa.literal_column("rowid", sa.Integer) == v[0]),
    "columns of rows": lambda sa, v: sa.select(
        *map(
            sa.func.max,
            sa.select(sa.entry.c.id, sa.entry.c.name.label("called"))
            .where(sa.entry.c.id > v[0])
            .subquery("few")
            .c,
        )
    ),
    "a table by its name": lambda sa, v: (
        sa.select(sa.column("word", sa.Text))
        .select_from(sa.table(f"part_{3}"))
        .where(sa.column("word") == v[1], sa.entry.c.id == State.QUEUED)
    ),
    "parameters of a run": lambda sa, v: sa.select(sa.entry.c.id).where(
        sa.entry.c.id > sa.bindparam("beyond"), sa.entry.c.name == v[1]
    ),
}
GIVEN = {"parameters of a run": {"beyond": 3}}
_numbers = st.integers(0, 2**31 - 2)
_texts = st.text(st.characters(codec="ascii"), max_size=8)


def test_all_that_is_imported_has_a_name() -> None:
    assert set(whole.__all__) == NAMES


@pytest.mark.parametrize("name", STATEMENTS)
@settings(max_examples=12, deadline=None)
@given(st.tuples(_numbers, _texts), st.tuples(_numbers, _texts))
def test_a_statement_says_the_same_with_the_values_of_another_run(
    name: str, first: tuple[int, str], other: tuple[int, str]
) -> None:
    written, params = STATEMENTS[name], GIVEN.get(name, {})
    recipe, spelling = kept(written(TERMS, [*first]), params)

    again = Spelling(written(TERMS, [*other]), params)

    sql, values, names = told(written(WHOLE, [*other]), params)
    assert again.text == spelling.text
    assert (recipe.sql, recipe.bound(again.values, params)) == (sql, values)
    assert [*recipe.names] == names or not recipe.names


def test_no_two_statements_are_taken_for_each_other() -> None:
    texts = {
        Spelling(written(TERMS, values), {}).text
        for written in STATEMENTS.values()
        for values in ([1, "a"], [2**40, "a"], [1, "é"], [1.5, "a"])
    }
    sqls = {
        told(written(WHOLE, [1, "a"]), GIVEN.get(name, {}))[0]
        for name, written in STATEMENTS.items()
    }

    assert len(sqls) == len(STATEMENTS) <= len(texts)


@pytest.mark.parametrize(
    "written",
    [
        lambda sa: sa.select(sa.literal_column("1")) if sa.entry.c.id else None,
        lambda sa: f"{sa.entry.c.id}",
        lambda sa: int(sa.entry.c.id),
        lambda sa: sa.entry.c.id in sa.entry.c,
        lambda sa: sa.entry.c.id == 3 or None,
        lambda sa: [*sa.select(sa.func.max(sa.entry.c.id)).subquery().c],
        lambda sa: [*sa.select(sa.entry.c.id, sa.entry.c.id.label("id")).subquery().c],
        lambda sa: isinstance(sa.entry.c.id, sa.ColumnElement),
        lambda sa: setattr(sa.entry, "name", "other"),
        lambda sa: sa.create_engine("sqlite://"),
        lambda sa: sa.event.listen,
    ],
)
def test_what_only_sqlalchemy_knows_is_not_guessed(written: Callable[[Any], Any]) -> None:
    with pytest.raises(light.GivenUp):
        written(TERMS)


def test_a_column_of_a_table_is_one_and_the_same() -> None:
    assert TERMS.entry.c.id is TERMS.entry.c["id"]
    assert TERMS.entry.c.id == TERMS.entry.c.id
    assert not TERMS.entry.c.id == TERMS.tag.c.entry_id  # noqa: SIM201
    assert [each.name for each in TERMS.entry.c] == ["id", "name", "size"]
    assert TERMS.entry.name == "entry"


def test_a_value_that_is_part_of_the_words_stays_one() -> None:
    recipes = {
        kept(TERMS.select(TERMS.literal_column(f"{number}").label(f"n{number}")), {})[0].sql
        for number in (1, 2)
    }

    assert recipes == {"SELECT 1 AS n1", "SELECT 2 AS n2"}


def test_a_value_of_a_kind_that_has_changed_is_another_one() -> None:
    before, after = (StrEnum("Kind", {"LINK": value}, module="kinds") for value in ("a", "b"))

    assert fixed(before["LINK"]) != fixed(after["LINK"])


def test_a_statement_that_writes_is_given_up() -> None:
    for statement in (
        TERMS.insert(TERMS.entry).values(name="x"),
        TERMS.update(TERMS.entry).values(name="x"),
        TERMS.delete(TERMS.entry),
    ):
        with pytest.raises(light.GivenUp):
            compiled(statement, Spelling(statement, {}).values, {})


def test_modules_of_the_index_have_the_words_of_sqlalchemy_from_core() -> None:
    """One that had a word from SQLAlchemy itself would mix it with terms, or load it for all."""
    index = Path(core.__file__).parents[1]
    own = {"core/whole.py", "core/compiling.py", "migration.py"}  # loaded where it is wanted
    imports = re.compile(r"^\s*(?:from|import) sqlalchemy\b", re.MULTILINE)

    found = {
        place
        for path in index.rglob("*.py")
        if imports.search(path.read_text("utf-8"))
        and not (place := str(path.relative_to(index))).startswith("dialect/postgres")
    }

    assert found == own
