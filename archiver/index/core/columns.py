"""What the columns of something are called, as far as that can be seen from how it was written."""

from collections.abc import Iterator, Sequence

from archiver import light
from archiver.index.core.terms import Attribute, Call, Name, Term, looks_at_columns

_OTHERWISE = frozenset({"cte", "subquery", "alias"})
"""What gives the same columns under another name."""
_NARROWER = frozenset(
    {"where", "join", "outerjoin", "select_from", "correlate", "order_by", "limit", "distinct"}
)
"""What gives a statement of the same columns."""


def columns_of(term: Term) -> Sequence[str]:
    """The names of the columns of a table, of rows that are given, or of a statement.

    They are given up where two are alike, which SQLAlchemy calls otherwise.
    """
    found = [*_columns(term)]
    if len({*found}) < len(found):
        light.give_up("two columns of one name")
    return found


def _columns(term: object) -> Iterator[str]:
    made = term._made if isinstance(term, Call) else None
    if not isinstance(term, Call) or made is None:
        light.give_up("which columns there are")
    if isinstance(made, Attribute) and made._name in _OTHERWISE | _NARROWER:
        yield from _columns(made._of)
    elif isinstance(made, Attribute) and made._name == "columns":
        yield from (_named(each) for each in term._given)
    elif made._leaf == "select" or (
        isinstance(made, Attribute) and made._name == "with_only_columns"
    ):
        for each in term._given:
            if _is_table(each):
                yield from _columns(each)
            else:
                yield _named(each)
    elif isinstance(made, Name) and made._name == "Table":
        for each in term._given:
            if isinstance(each, Call) and each._made._leaf == "Column":
                yield str(each._given[0])
    else:
        light.give_up("which columns there are")


def _is_table(term: object) -> bool:
    """Whether it stands for all of its columns."""
    if not isinstance(term, Call):
        return False
    made = term._made
    return made._leaf == "Table" or (isinstance(made, Attribute) and made._name in _OTHERWISE)


def _named(column: object) -> str:
    """What a column is called: one that something has, one of text, one with a label."""
    if (
        isinstance(column, Attribute)
        and isinstance(column._of, Attribute)
        and column._of._name == "c"
    ):
        return column._name
    made = column._made if isinstance(column, Call) else None
    is_label = isinstance(made, Attribute) and made._name == "label"
    if not (isinstance(column, Call) and (is_label or column._made._leaf == "column")):
        light.give_up("what a column is called")
    return str(column._given[0])


looks_at_columns(columns_of)
