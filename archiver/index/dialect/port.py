"""What an engine must be able to do for the index: all that is not the same SQL in each."""

from collections.abc import Mapping
from typing import Any, Protocol

from sqlalchemy import ColumnClause, Join, Select, Subquery, Table

from archiver.model.findable import Findable

Words = tuple[str | bytes, ...]
"""A document as its row in an index of words has it."""


class WordIndex(Protocol):
    """How one engine keeps the words of documents, in tables of so many each, and finds them.

    ``matching`` writes what it is asked. In what follows, ``{0}`` is the name of such a table.

    Attributes:
        matches: whether a document of it matches the expression ``:match``.
        knows_places: whether it is told where words stand without reading the documents that have
            them.
        at_first: in so many parts words are looked for, before it is in all others, where a
            statement costs what it might do; None where it costs what it does.
        among: selects which documents (``id``) match, of the stretch from ``:first{1}`` to
            ``:last{1}``, or of ``:wanted{1}`` alone, where it is dear to look at each.
        chosen: selects which of the documents ``:wanted{1}`` match.
        vocabulary: selects its words (``term``) and how many documents have each (``doc``); empty
            where none are counted, and scores of all parts are alike.
        tried: selects which of the words ``:tried`` are there, as ``vocabulary`` does; empty where
            that does.
        columns: of a document, besides its ``rowid``.
        merge: puts pieces of it together, as far as so many ``:pages``, or all of them where that
            is little; empty where none lie apart.
        changes: selects how often a connection has changed something.
        pages: selects how many pages of it the words between ``:first`` and ``:beyond`` take; empty
            where that can't be told.
        longest: selects the ``:most`` words (``term``) between ``:first`` and ``:beyond`` that take
            most room in it, but for ``:known`` of them; empty where ``pages`` is.
    """

    def __hash__(self) -> int:
        """One of an engine is told from another's."""

    @property
    def matches(self) -> str:
        """Whether a document matches."""

    @property
    def knows_places(self) -> bool:
        """Whether a phrase is found without reading documents."""

    @property
    def at_first(self) -> int | None:
        """In how many parts words are looked for at first."""

    @property
    def among(self) -> str:
        """Which of some documents match."""

    @property
    def chosen(self) -> str:
        """Which of a few documents match."""

    @property
    def vocabulary(self) -> str:
        """Which words there are."""

    @property
    def tried(self) -> str:
        """Which of some words there are."""

    @property
    def merge(self) -> str:
        """Puts pieces together."""

    @property
    def changes(self) -> str:
        """How much was changed."""

    @property
    def pages(self) -> str:
        """How much a beginning of words costs."""

    @property
    def longest(self) -> str:
        """Which words that begin so are the most frequent."""

    @property
    def columns(self) -> tuple[ColumnClause[Any], ...]:
        """What is kept of a document."""

    def ddl(self, part: int) -> tuple[str, ...]:
        """How the table of a part is made."""

    def row(self, found_by: Findable) -> Words:
        """A document as values of ``columns``."""

    def score(self, weights: Mapping[str, float]) -> str:
        """How good a document is, by how much a word in a column counts."""


class Dialect(Protocol):
    """How one engine says what others say otherwise.

    Attributes:
        is_shared: whether its indices are used by processes that see no file of each other's.
        with_own_entry: joins each row of ``found`` of which ``{0}`` is true with the entry
            (``own``) whose newest document it is, if there is one: one by one, however many rows
            are expected.
    """

    is_shared: bool
    with_own_entry: str

    def __hash__(self) -> int:
        """One of an engine is told from another's."""

    @property
    def words(self) -> WordIndex:
        """Its index of words."""

    def with_each(self, groups: Subquery, first: Select[int], table: Table) -> Join:
        """Each of ``groups`` beside the rows of a table whose ids ``first`` finds for it.

        ``first`` speaks of ``groups``; one for which it finds none stands beside NULL.
        """
