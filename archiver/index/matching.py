"""From the tree of a query to what SQLite's FTS5 is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from archiver.query.dates import Dates
from archiver.query.keys import dates_within, key
from archiver.query.tree import (
    EVERYTHING,
    All,
    Any,
    Column,
    Condition,
    Is,
    Node,
    Not,
    Term,
    conjuncts,
    every,
)
from archiver.query.words import is_open, phrase_of

_KEYED = frozenset({Condition.SITE, Condition.TAG, Condition.LANG, Condition.TYPE})

_DATED = frozenset({Condition.ADDED, Condition.PUBLISHED})


@dataclass(frozen=True, slots=True)
class Split:
    """A query as what the full-text index answers and what it does not.

    Attributes:
        match: an FTS5 expression that every result matches; empty if there is none.
        rest: what is still to be looked at of what it finds; of entries, if ``match`` is empty.
        apart: what finds at least as much and does not ask whether the words of a phrase follow
            each other; empty where ``match`` does not ask that either.
    """

    match: str
    rest: Node
    apart: str = ""


def split(tree: Node) -> Split:
    """Part a query. Only what holds words is asked of the index of words: not all are in it.

    A condition that the index has a key for narrows what it finds, and is looked at again: a key
    may be older than what it stands for.
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
    wanted = every([*worded, *keyed, *denied])
    match, apart = expression(wanted), expression(wanted, apart=True)
    return Split(match, every(rest) if rest else EVERYTHING, apart if apart != match else "")


def is_worded(node: Node) -> bool:
    """Whether the full-text index alone can find all that matches."""
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


def holds_words(node: Node) -> bool:
    """Whether any word is looked for, or must not be there."""
    if isinstance(node, All | Any):
        return any(map(holds_words, node.nodes))
    return holds_words(node.node) if isinstance(node, Not) else isinstance(node, Term)


def expression(node: Node, *, apart: bool = False) -> str:
    """The FTS5 expression of a node: every string in it is quoted, so it has no syntax but ours.

    Args:
        node: of a query.
        apart: let the words of what is wanted stand wherever they do. What must not be there is
            asked for as it is: fewer documents would be found otherwise.
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
    raise TypeError(f"{node} is no expression of its own")


def _all(nodes: Sequence[Node], *, apart: bool) -> str:
    wanted = [expression(each, apart=apart) for each in nodes if not isinstance(each, Not)]
    denied = [expression(each.node) for each in nodes if isinstance(each, Not)]
    # Of what is said more than once the engine would read all again.
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
    """Whether any word that begins as a term ends is looked for."""
    return term.prefix or is_open(term.text)


def in_columns(columns: Sequence[Column | str], match: str) -> str:
    """An expression, all of whose words must stand in some columns."""
    return f"({{{' '.join(columns)}}} : {match})"


def _is_keyed(node: Node) -> bool:
    return isinstance(node, Is) and bool(_keys(node))


def _keys(node: Is) -> list[str]:
    """The words that stand for a condition, any of which its documents have; empty if none do."""
    values: list[str] = []
    if node.condition in _KEYED and isinstance(node.value, str):
        values = [node.value]
    elif node.condition in _DATED and isinstance(node.value, Dates):
        values = dates_within(node.value)
    return [f'"{key(node.condition, value)}"' for value in values]
