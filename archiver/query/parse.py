"""From what a person typed to the tree of a query, and from that to SQLite's FTS5."""

from dataclasses import dataclass

from archiver.query.tokens import Token, tokenize

MAX_LENGTH = 1_000
"""Characters of a query that are read."""
MAX_TERMS = 32
"""Words and phrases of a query that are searched for."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase: words that follow each other.

    Attributes:
        text: at least one letter or digit is in it.
        prefix: its last word may go on.
    """

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """All of ``required`` and none of ``excluded``.

    Attributes:
        required: groups; of each group at least one term must be there.
        excluded: none of these may be there.
    """

    required: tuple[tuple[Term, ...], ...] = ()
    excluded: tuple[Term, ...] = ()


def parse_query(text: str) -> Query:
    """Read a query; whatever it holds, it means something.

    ``one two`` both; ``"one two"`` the phrase; ``-one`` without; ``one OR two`` either, and it
    binds closer than the space: ``a OR b c`` is *(a or b) and c*; ``arch*`` words that begin so.
    """
    groups: list[list[Term]] = []
    excluded: list[Term] = []
    joins = False
    for token in list(tokenize(text[:MAX_LENGTH]))[: 2 * MAX_TERMS]:
        if token.is_or:
            joins = bool(groups)
            continue
        term = _term(token)
        if term is None:
            continue
        if token.excluded:
            excluded.append(term)
        elif joins:
            groups[-1].append(term)
        else:
            groups.append([term])
        joins = False
        if len(excluded) + sum(map(len, groups)) == MAX_TERMS:
            break
    return Query(tuple(map(tuple, groups)), tuple(excluded))


def terms(query: Query) -> tuple[Term, ...]:
    """Give what a result holds because of the query, each once: what is worth highlighting."""
    return tuple(dict.fromkeys(term for group in query.required for term in group))


def to_fts5(query: Query) -> str:
    """Write the MATCH expression of a query; empty when it requires nothing.

    Every term is an FTS5 string, which only a double quote could end, so the expression has no
    syntax but ours. What is only excluded can't be searched for: an index has no list of all.
    """
    if not query.required:
        return ""
    required = " AND ".join(_either(group) for group in query.required)
    if not query.excluded:
        return required
    return f"({required}) NOT {_either(query.excluded)}"


def _term(token: Token) -> Term | None:
    """Make a term of what can be searched for: signs alone are in no index."""
    if not any(character.isalnum() for character in token.text):
        return None
    return Term(" ".join(token.text.split()), token.prefix)


def _either(group: tuple[Term, ...]) -> str:
    written = " OR ".join(map(_string, group))
    return f"({written})" if len(group) > 1 else written


def _string(term: Term) -> str:
    text = term.text.replace("\0", " ").replace('"', '""')
    return f'"{text}"*' if term.prefix else f'"{text}"'
