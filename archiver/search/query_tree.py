"""Query trees.

``conjunction``, ``disjunction`` and ``negate`` build trees in a normal form: no node directly
inside another of the same type, no ``All`` or ``Any`` with one node, and no double negation.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from archiver.search.query_dates import Age, Dates


class Column(StrEnum):
    """Columns in which words can be searched; a term without a column searches all of them."""

    TITLE = "title"
    URL = "url"
    NOTE = "note"
    AUTHOR = "by"


class Condition(StrEnum):
    """Conditions on the properties of an entry, rather than on its words."""

    SITE = "site"
    TAG = "tag"
    LIST = "list"
    LANG = "lang"
    TYPE = "type"
    IS = "is"
    STATUS = "status"
    FAILED = "failed"
    ADDED = "added"
    CAPTURED = "captured"
    PUBLISHED = "published"
    WORDS = "words"
    CHANGED = "changed"
    SCORE = "score"
    IMPORT = "import"
    FEED = "feed"


class IsValue(StrEnum):
    """Values of ``is:``."""

    UNREAD = "unread"
    READ = "read"
    STARRED = "starred"
    FAILED = "failed"
    WAITING = "waiting"
    GAP = "gap"
    GONE = "gone"
    UNTAGGED = "untagged"
    HIGHLIGHTED = "highlighted"
    CHANGED = "changed"
    UNRENDERED = "unrendered"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Term:
    """Word or phrase.

    Attributes:
        text: the text as typed, with single spaces; it contains at least one letter or digit.
        column: the column to search; None for all.
        prefix: whether the last word is a prefix.
    """

    text: str
    column: Column | None = None
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """Range of whole numbers from ``least`` to ``most``, inclusive; None leaves an end open."""

    least: int | None = None
    most: int | None = None


Value: TypeAlias = str | Dates | Age | Numbers


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """Condition with its parsed value, such as ``site:example.org``."""

    condition: Condition
    value: Value


@dataclass(frozen=True, slots=True)
class Not:
    """Negated node."""

    node: "Term | FieldCondition | All | Any"


@dataclass(frozen=True, slots=True)
class All:
    """Conjunction. Without nodes, it matches everything."""

    nodes: "tuple[Term | FieldCondition | Not | Any, ...]" = ()


@dataclass(frozen=True, slots=True)
class Any:
    """Disjunction of two or more nodes."""

    nodes: "tuple[Term | FieldCondition | Not | All, ...]"


Node: TypeAlias = Term | FieldCondition | Not | All | Any
EVERYTHING = All()
_UNQUOTED = re.compile(r"[^\s\"“”„«»():*\-][^\s\"“”„«»():*]*")


def conjunction(nodes: Sequence[Node]) -> Node:
    """Return the conjunction of the nodes."""
    flat = tuple(
        part for node in nodes for part in (node.nodes if isinstance(node, All) else (node,))
    )
    return flat[0] if len(flat) == 1 else All(flat)


def disjunction(nodes: Sequence[Node]) -> Node:
    """Return the disjunction of the nodes.

    It is ``EVERYTHING`` if one of the nodes is ``EVERYTHING``, or if there are no nodes.
    """
    if EVERYTHING in nodes or not nodes:
        return EVERYTHING
    flat = tuple(
        part for node in nodes for part in (node.nodes if isinstance(node, Any) else (node,))
    )
    return flat[0] if len(flat) == 1 else Any(flat)


def negate(node: Node) -> Node:
    """Return the negation of a node."""
    return node.node if isinstance(node, Not) else Not(node)


def with_last_word_as_prefix(node: Node) -> Node:
    """Return the query with its last word as a prefix, for search while the user types."""
    nodes = list(conjuncts(node))
    for n, each in reversed([*enumerate(nodes)]):
        if isinstance(each, Term):
            nodes[n] = replace(each, prefix=True)
            return conjunction(nodes)
    return node


def conjuncts(node: Node) -> tuple[Node, ...]:
    """Return the nodes of a conjunction, or the node alone."""
    return node.nodes if isinstance(node, All) else (node,)


def positive_terms(node: Node) -> Iterator[Term]:
    """Yield the terms that are not negated: the words to highlight in results."""
    if isinstance(node, Term):
        yield node
    elif isinstance(node, All | Any):
        for each in node.nodes:
            yield from positive_terms(each)


def count_terms(node: Node) -> int:
    """Count the words, phrases and conditions of a tree."""
    if isinstance(node, All | Any):
        return sum(map(count_terms, node.nodes))
    return count_terms(node.node) if isinstance(node, Not) else 1


def query_text(node: Node) -> str:
    """Return the query text of a tree."""
    if isinstance(node, All):
        return " ".join(map(query_text, node.nodes))
    if isinstance(node, Any):
        return " OR ".join(
            _bracketed(each) if isinstance(each, All) else query_text(each) for each in node.nodes
        )
    if isinstance(node, Not):
        return "-" + (
            _bracketed(node.node) if isinstance(node.node, All | Any) else query_text(node.node)
        )
    if isinstance(node, FieldCondition):
        return f"{node.condition}:{_quoted(write_value(node.value))}"
    column = f"{node.column}:" if node.column else ""
    return column + _quoted(node.text) + ("*" if node.prefix else "")


def write_value(value: Value) -> str:
    """Return the text of a field's value."""
    if isinstance(value, Numbers):
        if value.least == value.most and value.least is not None:
            return str(value.least)
        ends = ("" if each is None else str(each) for each in (value.least, value.most))
        return "..".join(ends)
    return str(value)


def _bracketed(node: Node) -> str:
    return f"({query_text(node)})"


def _quoted(text: str) -> str:
    return text if _UNQUOTED.fullmatch(text) and text != "OR" else f'"{text}"'
