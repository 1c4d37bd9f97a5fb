"""Query trees.

Trees are made by ``every``, ``either`` and ``without``, which give each meaning one shape: nothing
stands in its like, nothing stands alone, and nothing is denied twice.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from archiver.search.query_dates import Age, Dates


class Column(StrEnum):
    """Where words are looked for; one that is not named here stands in every one of these."""

    TITLE = "title"
    URL = "url"
    NOTE = "note"
    BY = "by"


class Condition(StrEnum):
    """What an entry is, rather than what words it holds."""

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


class Mark(StrEnum):
    """What ``is:`` asks for."""

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
    """A word or a phrase.

    Attributes:
        text: as it was typed, single spaces; at least one letter or digit is in it.
        column: where it must stand; None for anywhere.
        prefix: its last word may go on.
    """

    text: str
    column: Column | None = None
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """A range of whole numbers; None leaves an end open."""

    least: int | None = None
    most: int | None = None


Value: TypeAlias = str | Dates | Age | Numbers


@dataclass(frozen=True, slots=True)
class Is:
    """A condition and what it asks for, in the form that its field gives values."""

    condition: Condition
    value: Value


@dataclass(frozen=True, slots=True)
class Not:
    """What the node does not match."""

    node: "Term | Is | All | Any"


@dataclass(frozen=True, slots=True)
class All:
    """What all of the nodes match; without any, everything."""

    nodes: "tuple[Term | Is | Not | Any, ...]" = ()


@dataclass(frozen=True, slots=True)
class Any:
    """What at least one of two or more nodes matches."""

    nodes: "tuple[Term | Is | Not | All, ...]"


Node: TypeAlias = Term | Is | Not | All | Any
EVERYTHING = All()
_BARE = re.compile(r"[^\s\"“”„«»():*\-][^\s\"“”„«»():*]*")


def every(nodes: Sequence[Node]) -> Node:
    """What all of them match."""
    flat = tuple(
        part for node in nodes for part in (node.nodes if isinstance(node, All) else (node,))
    )
    return flat[0] if len(flat) == 1 else All(flat)


def either(nodes: Sequence[Node]) -> Node:
    """What any of them matches; everything, if one of them is everything or there is none."""
    if EVERYTHING in nodes or not nodes:
        return EVERYTHING
    flat = tuple(
        part for node in nodes for part in (node.nodes if isinstance(node, Any) else (node,))
    )
    return flat[0] if len(flat) == 1 else Any(flat)


def without(node: Node) -> Node:
    """What it does not match."""
    return node.node if isinstance(node, Not) else Not(node)


def half_typed(node: Node) -> Node:
    """The same with its last word as the beginning of one, whatever conditions follow it."""
    nodes = list(conjuncts(node))
    for n, each in reversed([*enumerate(nodes)]):
        if isinstance(each, Term):
            nodes[n] = replace(each, prefix=True)
            return every(nodes)
    return node


def conjuncts(node: Node) -> tuple[Node, ...]:
    """The nodes that all must match."""
    return node.nodes if isinstance(node, All) else (node,)


def sought(node: Node) -> Iterator[Term]:
    """The terms that a result may hold because of the query: what is worth marking."""
    if isinstance(node, Term):
        yield node
    elif isinstance(node, All | Any):
        for each in node.nodes:
            yield from sought(each)


def leaves(node: Node) -> int:
    """How many words, phrases and conditions a tree has."""
    if isinstance(node, All | Any):
        return sum(map(leaves, node.nodes))
    return leaves(node.node) if isinstance(node, Not) else 1


def write(node: Node) -> str:
    """A query whose tree this is."""
    if isinstance(node, All):
        return " ".join(map(write, node.nodes))
    if isinstance(node, Any):
        return " OR ".join(
            _bracketed(each) if isinstance(each, All) else write(each) for each in node.nodes
        )
    if isinstance(node, Not):
        return "-" + (
            _bracketed(node.node) if isinstance(node.node, All | Any) else write(node.node)
        )
    if isinstance(node, Is):
        return f"{node.condition}:{_quoted(write_value(node.value))}"
    column = f"{node.column}:" if node.column else ""
    return column + _quoted(node.text) + ("*" if node.prefix else "")


def write_value(value: Value) -> str:
    """What stands behind a colon."""
    if isinstance(value, Numbers):
        if value.least == value.most and value.least is not None:
            return str(value.least)
        ends = ("" if each is None else str(each) for each in (value.least, value.most))
        return "..".join(ends)
    return str(value)


def _bracketed(node: Node) -> str:
    return f"({write(node)})"


def _quoted(text: str) -> str:
    return text if _BARE.fullmatch(text) and text != "OR" else f'"{text}"'
