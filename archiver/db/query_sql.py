"""SQL conditions and full-text expressions of a search query, and the cost of its prefixes.

Statements that use a condition have ``entry`` in FROM, and ``document`` joined by
``with_document``.

The full-text index is divided into parts, each for a range of document ids. A prefix query reads
all words of a part that start with the prefix. The cost is estimated from the positions of the
first and the last such word in the index.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

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
    text,
    true,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import KindOfFailure, StatusOfFailure
from archiver.db.full_text import Matches, word_index_of
from archiver.db.full_text import expression as expression_of
from archiver.db.schema import (
    PART_SIZE,
    document,
    entry,
    entry_list,
    entry_tag,
    host,
    in_list,
    job,
    search_table,
    snapshot,
    tag,
)
from archiver.http.timestamps import to_timestamp
from archiver.model.job import State
from archiver.model.rendering import Rendering
from archiver.search.query_dates import Age, Dates
from archiver.search.query_tree import (
    EVERYTHING,
    All,
    Any,
    Condition,
    Is,
    Mark,
    Node,
    Not,
    Numbers,
    Term,
    conjunction,
    conjuncts,
)
from archiver.search.words import dates_within, fold, is_open, key, list_key, phrase_of, site_range

_KEYED = frozenset({Condition.SITE, Condition.TAG, Condition.LANG, Condition.TYPE})

_DATED = frozenset({Condition.ADDED, Condition.PUBLISHED})


@dataclass(frozen=True, slots=True)
class Split:
    """Query split into a full-text part and a remaining part.

    Attributes:
        match: FTS5 expression that every result matches; empty if there is none.
        rest: remaining conditions on the results, or on all entries if ``match`` is empty.
        apart: weaker expression without phrase order; empty if ``match`` has no phrases.
    """

    match: str
    rest: Node
    apart: str = ""


def split(tree: Node) -> Split:
    """Split a query into conditions for the full-text index and conditions for SQL.

    The full-text index is used only if the query contains words, because some entries are not in
    it. Conditions with an index key narrow the full-text results. SQL checks them again, because a
    key may be outdated.
    """
    worded: list[Node] = []
    rest: list[Node] = []
    for node in conjuncts(tree):
        (worded if is_worded(node) else rest).append(node)
    if not worded:
        return Split("", tree)
    keyed = [each for each in rest if _is_keyed(each)]
    denied = [each for each in rest if isinstance(each, Not) and is_worded(each.node)]
    rest = [each for each in rest if each not in denied]
    wanted = conjunction([*worded, *keyed, *denied])
    match, apart = expression(wanted), expression(wanted, apart=True)
    return Split(match, conjunction(rest) if rest else EVERYTHING, apart if apart != match else "")


def is_worded(node: Node) -> bool:
    """Return whether the full-text index alone finds all matches."""
    if isinstance(node, Term):
        return True
    if isinstance(node, Any):
        return all(map(is_worded, node.nodes))
    if isinstance(node, All):
        return any(map(is_worded, node.nodes)) and all(
            is_worded(each) or (isinstance(each, Not) and is_worded(each.node))
            for each in node.nodes
        )
    return False


def has_words_anywhere(node: Node) -> bool:
    """Return whether a query contains words, negated or not."""
    if isinstance(node, All | Any):
        return any(map(has_words_anywhere, node.nodes))
    return has_words_anywhere(node.node) if isinstance(node, Not) else isinstance(node, Term)


def expression(node: Node, *, apart: bool = False) -> str:
    """Return the FTS5 expression of a node; all strings are quoted.

    Args:
        node: query node.
        apart: ignore word order in wanted phrases. Negated phrases stay exact, because a weaker
            expression would exclude too much.
    """
    if isinstance(node, Term):
        return _term(node, apart=apart)
    if isinstance(node, Is):
        return f"(keys : ({' OR '.join(_keys(node))}))"
    if isinstance(node, Any):
        either = dict.fromkeys(expression(each, apart=apart) for each in node.nodes)
        return f"({' OR '.join(either)})"
    if isinstance(node, All):
        return _all(node.nodes, apart=apart)
    raise TypeError(f"{node} is not a separate expression")


def _all(nodes: Sequence[Node], *, apart: bool) -> str:
    wanted = [expression(each, apart=apart) for each in nodes if not isinstance(each, Not)]
    denied = [expression(each.node) for each in nodes if isinstance(each, Not)]
    # The database would evaluate repeated terms again.
    found = f"({' AND '.join(dict.fromkeys(wanted))})"
    return f"({found} NOT ({' OR '.join(denied)}))" if denied else found


def _term(term: Term, *, apart: bool) -> str:
    words = phrase_of(term.text)
    sought = words if apart and len(words) > 1 else [" ".join(words)]
    star = "*" if is_open_ended(term) else ""
    column = f"{term.column} : " if term.column else ""
    written = [f'({column}"{each}")' for each in sought[:-1]]
    written.append(f'({column}"{sought[-1]}"{star})')
    return written[0] if len(written) == 1 else f"({' AND '.join(dict.fromkeys(written))})"


def is_open_ended(term: Term) -> bool:
    """Return whether a term is a prefix."""
    return term.prefix or is_open(term.text)


def _is_keyed(node: Node) -> bool:
    return isinstance(node, Is) and bool(_keys(node))


def _keys(node: Is) -> list[str]:
    """Return index keys; documents that meet the condition have one of them. May be empty."""
    values: list[str] = []
    if node.condition in _KEYED and isinstance(node.value, str):
        values = [node.value]
    elif node.condition in _DATED and isinstance(node.value, Dates):
        values = dates_within(node.value)
    return [f'"{key(node.condition, value)}"' for value in values]


GONE = (404, 410)
_ROW: ColumnElement[int] = literal_column("rowid", Integer)
_Test = ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Setting:
    """Context of a query.

    Attributes:
        now: current time (aware, UTC).
        parts: parts of the full-text index.
        documents: first and last document to search in each part; None for all.
    """

    now: datetime
    parts: Sequence[int]
    documents: Mapping[int, tuple[int, int]] | None = None

    def of_documents(self, numbers: Iterable[int]) -> "Setting":
        """Return a context restricted to the range of documents."""
        by_part = groupby(sorted(numbers), key=lambda each: each // PART_SIZE)
        within = ((part, [*some]) for part, some in by_part if part in self.parts)
        held = {part: (some[0], some[-1]) for part, some in within}
        return replace(self, parts=(*held,), documents=held)


def with_document(query: Select[*tuple[object, ...]]) -> Select[*tuple[object, ...]]:
    """Outer-join the search document."""
    return query.outerjoin(document, document.c.id == entry.c.document_id)


def condition(node: Node, setting: Setting) -> _Test:
    """Return the SQL condition of a node."""
    if is_worded(node):
        return _has_words(expression(node), setting)
    if isinstance(node, All):
        return and_(true(), *(condition(each, setting) for each in node.nodes))
    if isinstance(node, Any):
        return or_(false(), *(condition(each, setting) for each in node.nodes))
    if isinstance(node, Not):
        return not_(func.coalesce(condition(node.node, setting), false()))
    if isinstance(node, Term):
        raise TypeError("a term is worded")
    return _is(node, setting)


def _has_words(match: str, setting: Setting) -> _Test:
    if not setting.parts:
        return false()
    asked = expression_of(match)
    arms = (
        select(_ROW)
        .select_from(table(search_table(part)))
        .where(Matches(literal_column(search_table(part)), asked), *_in_lists(part, setting))
        for part in setting.parts
    )
    return entry.c.document_id.in_(union_all(*arms))


def _in_lists(part: int, setting: Setting) -> list[_Test]:
    return [] if setting.documents is None else [_ROW.between(*setting.documents[part])]


def _is(node: Is, setting: Setting) -> _Test:
    value = node.value
    if isinstance(value, Dates | Age):
        return _within(node.condition, value, setting.now)
    if isinstance(value, Numbers):
        return _numbers(_NUMBERS[node.condition], value)
    return _BY_TEXT[node.condition](value)


def _within(which: Condition, value: Dates | Age, now: datetime) -> _Test:
    first, beyond = value.span(now)
    own, scale = _MOMENTS[which]
    tests: list[_Test] = [own.is_not(None)]
    if first:
        tests.append(own >= scale(first))
    if beyond:
        tests.append(own < scale(beyond))
    return and_(*tests)


def _numbers(own: ColumnElement[int], value: Numbers) -> _Test:
    tests: list[_Test] = [entry.c.document_id.is_not(None), own.is_not(None)]
    if value.least is not None:
        tests.append(own >= value.least)
    if value.most is not None:
        tests.append(own <= value.most)
    return and_(*tests)


def _site(value: str) -> _Test:
    first, beyond = site_range(value)
    names = select(host.c.name).where(
        or_(host.c.name == value, and_(host.c.reversed >= first, host.c.reversed < beyond))
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
    """Return the condition for a list name; with a trailing slash, nested lists too."""
    path = list_key(value.removesuffix("/"))
    named = entry_list.c.folded == path
    if not value.endswith("/"):
        return named
    beyond = f"{path}{chr(ord('/') + 1)}"
    return named | and_(entry_list.c.folded >= f"{path}/", entry_list.c.folded < beyond)


def _list(value: str) -> _Test:
    return (
        select(in_list.c.entry_id)
        .join(entry_list, entry_list.c.id == in_list.c.list_id)
        .where(in_list.c.entry_id == entry.c.id, lists_named(value))
        .exists()
    )


def _language(value: str) -> _Test:
    own = document.c.language
    return or_(own == value, and_(own >= f"{value}-", own < f"{value}."))


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
        tests.append(KindOfFailure(entry.c.failure) == kind)
    if status:
        tests.append(StatusOfFailure(entry.c.failure) == int(status))
    return and_(*tests)


def _import(value: str) -> _Test:
    named = entry.c.source == f"import:{value}"
    if not value.isdecimal() or len(value) > 18:
        return named
    own = select(job.c.id).where(job.c.entry_id == entry.c.id, job.c.import_id == int(value))
    return or_(own.exists(), entry.c.brought_by == int(value), named)


def _has_gap() -> _Test:
    return (
        select(snapshot.c.id)
        .where(
            snapshot.c.entry_id == entry.c.id,
            snapshot.c.timestamp == entry.c.latest,
            snapshot.c.missing_count > 0,
        )
        .exists()
    )


def _is_gone() -> _Test:
    return or_(entry.c.status.in_(GONE), StatusOfFailure(entry.c.failure).in_(GONE))


def _is_untagged() -> _Test:
    own = select(entry_tag.c.entry_id).where(entry_tag.c.entry_id == entry.c.id)
    return not_(own.exists())


_MARKS: Mapping[str, Callable[[], _Test]] = {
    Mark.UNREAD: lambda: entry.c.is_read == 0,
    Mark.READ: lambda: entry.c.is_read == 1,
    Mark.STARRED: lambda: entry.c.is_starred == 1,
    Mark.FAILED: lambda: entry.c.state == State.FAILED,
    Mark.WAITING: lambda: entry.c.state == State.QUEUED,
    Mark.GAP: _has_gap,
    Mark.GONE: _is_gone,
    Mark.UNTAGGED: _is_untagged,
    Mark.HIGHLIGHTED: lambda: entry.c.highlights != literal_column("''"),
    Mark.CHANGED: lambda: entry.c.changed > literal_column("0"),
    Mark.LINK: lambda: entry.c.state == State.LINK,
    Mark.UNRENDERED: lambda: entry.c.rendering == Rendering.NEEDED,
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
}
_MOMENTS: Mapping[Condition, tuple[ColumnElement[int], Callable[[datetime], int]]] = {
    Condition.ADDED: (entry.c.added_at, lambda moment: int(moment.timestamp())),
    Condition.CAPTURED: (entry.c.latest, lambda moment: int(to_timestamp(moment))),
    Condition.PUBLISHED: (document.c.published, lambda moment: int(moment.timestamp())),
}

MAX_PAGES = 3000
"""Maximum number of pages (4 kB) read for negated prefixes; one part is always read."""
EXPENSIVE_PAGES = 500
"""Pages of one part above which a prefix is expensive.

In a full part, this many pages hold about sixteen word positions per document.
"""


async def pages_of(conn: AsyncConnection, terms: Iterable[Term], parts: Sequence[int]) -> int:
    """Estimate the pages per part that prefixes need, measured in one of the parts."""
    asked = word_index_of(conn).prefix_pages
    begun = {phrase_of(term.text)[-1] for term in terms}
    if not (asked and begun and parts):
        return 0
    statement = text(asked.format(search_table(parts[len(parts) // 2])))
    pages = 0
    for word in sorted(begun):
        rows = await conn.execute(statement, {"first": word, "beyond": f"{word}\U0010ffff"})
        pages += rows.scalar() or 0
    return pages


async def parts_within_cost(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> int | None:
    """Return the maximum number of parts to search, at least one; None for all.

    Only negated prefixes limit it, because their words are read in every part that is searched. A
    search for other prefixes stops at enough results, and needs all parts only for a rare word.
    """
    pages = await pages_of(conn, (each for each, is_denied in _begun(tree) if is_denied), parts)
    return max(1, MAX_PAGES // pages) if pages * len(parts) > MAX_PAGES else None


def prefix_terms(tree: Node) -> list[Term]:
    """Return the prefix terms of a query, including negated ones."""
    return [each for each, _ in _begun(tree)]


def _begun(node: Node, *, is_denied: bool = False) -> Iterator[tuple[Term, bool]]:
    """Yield prefix terms, and whether each is negated."""
    if isinstance(node, Term):
        if is_open_ended(node):
            yield node, is_denied
    elif isinstance(node, Not):
        yield from _begun(node.node, is_denied=not is_denied)
    elif isinstance(node, All | Any):
        for each in node.nodes:
            yield from _begun(each, is_denied=is_denied)
