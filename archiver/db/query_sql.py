"""Expressions for the full-text index, and SQL conditions, of search queries.

Conditions refer to columns of ``entry`` and of ``document``, which ``with_document`` joins.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    and_,
    false,
    func,
    literal_column,
    not_,
    or_,
    select,
    table,
    true,
)

from archiver.db.dialects import failure_field
from archiver.db.full_text import Combined, Expression, Matches, Phrase, match_parameter
from archiver.db.schema import (
    FULL_TEXT,
    document,
    entry,
    entry_list,
    entry_tag,
    host,
    in_list,
    job,
    snapshot,
    tag,
)
from archiver.http.timestamps import to_timestamp
from archiver.model.feed import source_of
from archiver.model.job import State
from archiver.model.rendering import Limit, Rendering
from archiver.search.query_dates import Age, Dates
from archiver.search.query_tree import (
    EVERYTHING,
    All,
    Any,
    Condition,
    FieldCondition,
    IsValue,
    Node,
    Not,
    Numbers,
    Term,
    conjunction,
    conjuncts,
)
from archiver.search.words import (
    dates_within,
    fold,
    index_key,
    is_open,
    list_key,
    phrase_of,
    site_range,
)

_KEYED = frozenset({Condition.SITE, Condition.TAG, Condition.LANG, Condition.TYPE})

_DATED = frozenset({Condition.ADDED, Condition.PUBLISHED})


@dataclass(frozen=True, slots=True)
class Split:
    """Query in two parts: an expression for the full-text index, and conditions for SQL.

    Attributes:
        match: expression that all results match; None if the query has no words.
        conditions: what SQL checks for each match, or for each entry if ``match`` is empty.
        unordered_match: expression with the words of each phrase in any order and place; None if
            ``match`` has no phrases. Its matches include those of ``match``.
    """

    match: Expression | None
    conditions: Node
    unordered_match: Expression | None = None


def split(tree: Node) -> Split:
    """Split a query into an expression for the full-text index and conditions for SQL.

    Entries without a search document are not in the index, so the index is used only if the query
    has words. Conditions with index keys (``search.words.index_key``), such as ``site:``, narrow
    the results of the index. SQL checks these conditions again, because keys may be outdated.
    """
    full_text: list[Node] = []
    checked: list[Node] = []
    for node in conjuncts(tree):
        (full_text if is_full_text(node) else checked).append(node)
    if not full_text:
        return Split(None, tree)
    keyed = [each for each in checked if isinstance(each, FieldCondition) and _keys(each)]
    negated = [each for each in checked if isinstance(each, Not) and is_full_text(each.node)]
    checked = [each for each in checked if each not in negated]
    conditions = conjunction([*full_text, *keyed, *negated])
    match, unordered = expression(conditions), expression(conditions, unordered=True)
    remaining = conjunction(checked) if checked else EVERYTHING
    return Split(match, remaining, unordered if unordered != match else None)


def is_full_text(node: Node) -> bool:
    """Return whether the full-text index alone finds exactly the matches of a node."""
    if isinstance(node, Term):
        return True
    if isinstance(node, Any):
        return all(map(is_full_text, node.nodes))
    if isinstance(node, All):
        return any(map(is_full_text, node.nodes)) and all(
            is_full_text(each) or (isinstance(each, Not) and is_full_text(each.node))
            for each in node.nodes
        )
    return False


def has_terms(node: Node) -> bool:
    """Return whether a query has words, negated or not."""
    if isinstance(node, All | Any):
        return any(map(has_terms, node.nodes))
    return has_terms(node.node) if isinstance(node, Not) else isinstance(node, Term)


def expression(node: Node, *, columns: tuple[str, ...] = (), unordered: bool = False) -> Expression:
    """Return the expression of a node.

    Args:
        node: a full-text node, or a condition with index keys.
        columns: columns in which terms without a column are searched; empty for all columns.
        unordered: replace phrases by their words. Negated phrases stay, because their words would
            exclude more than the phrase.
    """

    def joined(operator: str, nodes: Sequence[Node], *, unordered: bool) -> Expression:
        parts = (expression(each, columns=columns, unordered=unordered) for each in nodes)
        return _combined(operator, parts)

    if isinstance(node, Term):
        words = tuple(phrase_of(node.text))
        own_columns = (str(node.column),) if node.column else columns
        phrases = [(each,) for each in words] if unordered and len(words) > 1 else [words]
        parts = [Phrase(each, own_columns) for each in phrases]
        return _combined("AND", [*parts[:-1], replace(parts[-1], is_open=is_open_ended(node))])
    if isinstance(node, FieldCondition):
        return _combined("OR", [Phrase((key,), ("keys",)) for key in _keys(node)])
    if isinstance(node, Any):
        return joined("OR", node.nodes, unordered=unordered)
    if isinstance(node, All):
        wanted = [each for each in node.nodes if not isinstance(each, Not)]
        negated = [each.node for each in node.nodes if isinstance(each, Not)]
        positive = joined("AND", wanted, unordered=unordered)
        if not negated:
            return positive
        return Combined("NOT", (positive, joined("OR", negated, unordered=False)))
    raise TypeError(f"{node} is not a separate expression")


def _combined(operator: str, parts: Iterable[Expression]) -> Expression:
    """Join expressions without duplicates, because the database would search for each of them."""
    one, *others = dict.fromkeys(parts)
    return Combined(operator, (one, *others)) if others else one


def is_open_ended(term: Term) -> bool:
    """Return whether the last word of a term is a prefix.

    It is a prefix if the term has ``prefix`` set (``orni*``, or the last word while the user
    types), or if its script has no spaces between words.
    """
    return term.prefix or is_open(term.text)


def _keys(node: FieldCondition) -> list[str]:
    """Return index keys; every document that meets the condition has one of them.

    Conditions without index keys return an empty list.
    """
    values: list[str] = []
    if node.condition in _KEYED and isinstance(node.value, str):
        values = [node.value]
    elif node.condition in _DATED and isinstance(node.value, Dates):
        values = dates_within(node.value)
    return [index_key(node.condition, value) for value in values]


GONE = (404, 410)
"""HTTP statuses of pages that no longer exist."""
_ROW: ColumnElement[int] = literal_column("rowid", Integer)
_Test = ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Values that SQL conditions need besides the query.

    Attributes:
        now: current time (aware, UTC), for ages such as ``added:<7d``.
        between: first and last document id to search; None for all documents.
    """

    now: datetime
    between: tuple[int, int] | None = None

    def of_documents(self, numbers: Collection[int]) -> "SearchContext":
        """Return a context that searches only the id range of some documents."""
        return replace(self, between=(min(numbers, default=0), max(numbers, default=-1)))


def with_document(query: Select[*tuple[object, ...]]) -> Select[*tuple[object, ...]]:
    """Outer-join the search document of ``entry`` to a query."""
    return query.outerjoin(document, document.c.id == entry.c.document_id)


def condition(node: Node, context: SearchContext) -> _Test:
    """Return the SQL condition that an entry matches a node."""
    if is_full_text(node):
        return _has_words(expression(node), context)
    if isinstance(node, All):
        return and_(true(), *(condition(each, context) for each in node.nodes))
    if isinstance(node, Any):
        return or_(false(), *(condition(each, context) for each in node.nodes))
    if isinstance(node, Not):
        return not_(func.coalesce(condition(node.node, context), false()))
    if isinstance(node, Term):
        raise TypeError("a term is a full-text node")
    return _field_condition(node, context)


def _has_words(match: Expression, context: SearchContext) -> _Test:
    full_text: ColumnElement[str] = literal_column(FULL_TEXT)
    query = select(_ROW).select_from(table(FULL_TEXT))
    query = query.where(Matches(full_text, match_parameter(match)))
    if context.between:
        query = query.where(_ROW.between(*context.between))
    return entry.c.document_id.in_(query)


def _field_condition(node: FieldCondition, context: SearchContext) -> _Test:
    value = node.value
    if isinstance(value, Dates | Age):
        return _within(node.condition, value, context.now)
    if isinstance(value, Numbers):
        return _numbers(_NUMBERS[node.condition], value)
    return _BY_TEXT[node.condition](value)


def _within(which: Condition, value: Dates | Age, now: datetime) -> _Test:
    first, end = value.span(now)
    column, scale = _MOMENTS[which]
    tests: list[_Test] = [column.is_not(None)]
    if first:
        tests.append(column >= scale(first))
    if end:
        tests.append(column < scale(end))
    return and_(*tests)


def _numbers(column: ColumnElement[int], value: Numbers) -> _Test:
    tests: list[_Test] = [entry.c.document_id.is_not(None), column.is_not(None)]
    if value.least is not None:
        tests.append(column >= value.least)
    if value.most is not None:
        tests.append(column <= value.most)
    return and_(*tests)


def _site(value: str) -> _Test:
    first, end = site_range(value)
    names = select(host.c.name).where(
        or_(host.c.name == value, and_(host.c.reversed >= first, host.c.reversed < end))
    )
    return entry.c.host.in_(names)


def _tag(value: str) -> _Test:
    return (
        select(entry_tag.c.entry_id)
        .join(tag, tag.c.id == entry_tag.c.tag_id)
        .where(entry_tag.c.entry_id == entry.c.id, tag.c.folded == fold(value))
        .exists()
    )


def lists_named(value: str) -> ColumnElement[bool]:
    """Return the condition that a list has a path.

    A path that ends with a slash includes the nested lists.
    """
    path = list_key(value.removesuffix("/"))
    named = entry_list.c.folded == path
    if not value.endswith("/"):
        return named
    end = f"{path}{chr(ord('/') + 1)}"
    return named | and_(entry_list.c.folded >= f"{path}/", entry_list.c.folded < end)


def _list(value: str) -> _Test:
    return (
        select(in_list.c.entry_id)
        .join(entry_list, entry_list.c.id == in_list.c.list_id)
        .where(in_list.c.entry_id == entry.c.id, lists_named(value))
        .exists()
    )


def _language(value: str) -> _Test:
    language = document.c.language
    return or_(language == value, and_(language >= f"{value}-", language < f"{value}."))


def _status(value: str) -> _Test:
    if value in (State.SAVED, State.FAILED, State.QUEUED, State.LINK):
        return entry.c.state == value
    if value.endswith("xx"):
        hundred = int(value[0]) * 100
        return and_(entry.c.status >= hundred, entry.c.status < hundred + 100)
    return entry.c.status == int(value)


def _failed(value: str) -> _Test:
    kind, _, status = value.rpartition(" ") if value[-1].isdecimal() else (value, "", "")
    tests: list[_Test] = [entry.c.state == State.FAILED]
    if kind:
        tests.append(failure_field(entry.c.failure, "kind") == kind)
    if status:
        tests.append(failure_field(entry.c.failure, "status") == str(int(status)))
    return and_(*tests)


def _is_gone() -> _Test:
    status = failure_field(entry.c.failure, "status")
    return or_(entry.c.status.in_(GONE), status.in_([*map(str, GONE)]))


def _import(value: str) -> _Test:
    named = entry.c.source == f"import:{value}"
    if not value.isdecimal() or len(value) > 18:
        return named
    jobs = select(job.c.id).where(job.c.entry_id == entry.c.id, job.c.import_id == int(value))
    return or_(jobs.exists(), entry.c.brought_by == int(value), named)


def _feed(value: str) -> _Test:
    """Compare with a whole URL, or with its beginning without the scheme."""
    if "://" in value:
        return entry.c.source == source_of(value)
    begins = (source_of(f"{scheme}://{value}") for scheme in ("https", "http"))
    return or_(*(entry.c.source.startswith(each, autoescape=True) for each in begins))


def _has_gap() -> _Test:
    return (
        select(snapshot.c.id)
        .where(
            snapshot.c.entry_id == entry.c.id,
            snapshot.c.timestamp == entry.c.latest,
            or_(snapshot.c.missing_count > 0, snapshot.c.limits.contains(Limit.ARTICLE.value)),
        )
        .exists()
    )


def _is_untagged() -> _Test:
    tags = select(entry_tag.c.entry_id).where(entry_tag.c.entry_id == entry.c.id)
    return not_(tags.exists())


_MARKS: Mapping[str, Callable[[], _Test]] = {
    IsValue.UNREAD: lambda: entry.c.is_read == 0,
    IsValue.READ: lambda: entry.c.is_read == 1,
    IsValue.STARRED: lambda: entry.c.is_starred == 1,
    IsValue.FAILED: lambda: entry.c.state == State.FAILED,
    IsValue.WAITING: lambda: entry.c.state == State.QUEUED,
    IsValue.GAP: _has_gap,
    IsValue.GONE: _is_gone,
    IsValue.UNTAGGED: _is_untagged,
    IsValue.HIGHLIGHTED: lambda: entry.c.highlights != literal_column("''"),
    IsValue.CHANGED: lambda: entry.c.changed > literal_column("0"),
    IsValue.LINK: lambda: entry.c.state == State.LINK,
    IsValue.UNRENDERED: lambda: entry.c.rendering == Rendering.NEEDED,
}
_NUMBERS: Mapping[Condition, ColumnElement[int]] = {
    Condition.WORDS: document.c.word_count,
    Condition.CHANGED: entry.c.changed,
    Condition.SCORE: entry.c.score,
}
_BY_TEXT: Mapping[Condition, Callable[[str], _Test]] = {
    Condition.SITE: _site,
    Condition.TAG: _tag,
    Condition.LIST: _list,
    Condition.LANG: _language,
    Condition.TYPE: lambda value: document.c.kind == value,
    Condition.IS: lambda value: _MARKS[value](),
    Condition.STATUS: _status,
    Condition.FAILED: _failed,
    Condition.IMPORT: _import,
    Condition.FEED: _feed,
}
_MOMENTS: Mapping[Condition, tuple[ColumnElement[int], Callable[[datetime], int]]] = {
    Condition.ADDED: (entry.c.added_at, lambda moment: int(moment.timestamp())),
    Condition.CAPTURED: (entry.c.latest, lambda moment: int(to_timestamp(moment))),
    Condition.PUBLISHED: (document.c.published, lambda moment: int(moment.timestamp())),
}
