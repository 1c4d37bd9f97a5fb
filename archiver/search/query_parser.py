"""Query parser.

    query   := either*                    all must match
    either  := unary ("OR" unary)*        OR binds closer than a space
    unary   := "-"* (words | field | "(" query ")")

Missing closing brackets and quotes are added. Extra closing brackets, an OR without operands and
punctuation alone are ignored.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from archiver.errors import InvalidQuery
from archiver.search.query_fields import ALIASES, BY_NAME, Field, accepted_values, describe_values
from archiver.search.query_tree import (
    Column,
    FieldCondition,
    Node,
    Term,
    conjunction,
    count_terms,
    disjunction,
    negate,
)
from archiver.search.words import words_of

_QUOTES = '"\u201c\u201d\u201e\u00ab\u00bb'
_TOKEN = re.compile(
    rf"(?P<minus>-+(?=[^\s-]))"
    rf"|(?P<open>\()|(?P<close>\))"
    rf"|(?P<name>[A-Za-z]+):(?=[^\s:)]|[{_QUOTES}])(?!//)"
    rf"|[{_QUOTES}](?P<phrase>[^{_QUOTES}]*+)[{_QUOTES}]?+(?P<star>\*?)"
    rf"|(?P<word>[^\s{_QUOTES}()]++)"
)


class Sign(Enum):
    """Kinds of tokens."""

    WORD = auto()
    PHRASE = auto()
    FIELD = auto()
    MINUS = auto()
    OPEN = auto()
    CLOSE = auto()
    OR = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """Token of a query.

    Attributes:
        sign: kind of the token.
        at: position of its first character.
        end: position after its last character.
        text: text of the token, without quotes, colon or stars.
        has_star: whether ``*`` follows the text.
    """

    sign: Sign
    at: int
    end: int
    text: str = ""
    has_star: bool = False


def tokenize(text: str) -> Iterator[Token]:
    """Split a query into tokens.

    Only upper-case OR is an operator, so that "or" can be searched for.
    """
    pos = 0
    while match := _TOKEN.search(text, pos):
        yield _token(match)
        pos = match.end()


def _token(match: re.Match[str]) -> Token:
    pos, end, kind = match.start(), match.end(), match.lastgroup
    if kind in ("phrase", "star"):
        return Token(Sign.PHRASE, pos, end, match["phrase"], bool(match["star"]))
    if kind == "name":
        return Token(Sign.FIELD, pos, end, match["name"])
    if kind == "word":
        word = match["word"]
        if word == "OR":
            return Token(Sign.OR, pos, end, word)
        return Token(Sign.WORD, pos, end, word.rstrip("*"), word.endswith("*"))
    return Token({"minus": Sign.MINUS, "open": Sign.OPEN, "close": Sign.CLOSE}[str(kind)], pos, end)


MAX_LENGTH = 1_000
"""Maximum characters of a query."""
MAX_TERMS = 32
"""Maximum words, phrases and conditions of a query."""
_ADDRESS = re.compile(r"https?://([^\s#]+)(?:#\S*)?", re.IGNORECASE)
MAX_DEPTH = 10
"""Maximum nesting of brackets."""


def parse_query(text: str) -> Node:
    """Parse a query.

    Raises:
        InvalidQuery: the query is malformed or too long; the error has the position.
    """
    if len(text) > MAX_LENGTH:
        raise InvalidQuery(
            "A search can have at most {max_length} characters; this one has {count}.",
            max_length=MAX_LENGTH,
            count=len(text),
            at=MAX_LENGTH,
            length=len(text) - MAX_LENGTH,
        )
    return _Parser(text).query(depth=0)


def fits(tree: Node, written: str) -> bool:
    """Return whether a tree and its query text (``written``) are within the limits of parsing."""
    return len(written) <= MAX_LENGTH and count_terms(tree) <= MAX_TERMS


class _Parser:
    """Recursive descent parser of one query."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(tokenize(text)) if text else []
        self._next = 0
        self._terms = 0

    def query(self, depth: int) -> Node:
        nodes = []
        while self._peek() and not (depth and self._next_is(Sign.CLOSE)):
            node = self._either(depth)
            if node:
                nodes.append(node)
        return conjunction(nodes)

    def _either(self, depth: int) -> Node | None:
        nodes = [self._unary(depth)]
        while self._next_is(Sign.OR):
            self._take()
            if self._peek() and not self._next_is(Sign.CLOSE):
                nodes.append(self._unary(depth))
        alternatives = [node for node in nodes if node]
        return disjunction(alternatives) if alternatives else None

    def _unary(self, depth: int) -> Node | None:
        if self._next_is(Sign.OR):
            return None
        token = self._take()
        if token.sign is Sign.MINUS:
            operand = self._unary(depth) if self._peek() else None
            return negate(operand) if operand else None
        if token.sign is Sign.OPEN:
            return self._brackets(token, depth)
        if token.sign is Sign.CLOSE:
            return None
        if token.sign is Sign.FIELD:
            return self._field(token)
        return self._count(token, _term(token, None))

    def _brackets(self, token: Token, depth: int) -> Node | None:
        if depth == MAX_DEPTH:
            raise _refusal("Brackets are nested too deeply.", token)
        node = self.query(depth + 1)
        if self._next_is(Sign.CLOSE):
            self._take()
        return node if node != conjunction([]) else None

    def _field(self, token: Token) -> Node:
        name = token.text.lower()
        field = BY_NAME.get(name) or ALIASES.get(name)
        if field is None:
            raise self._unknown_field(token)
        value = self._take() if self._peek() else token
        if value.sign not in (Sign.WORD, Sign.PHRASE, Sign.OR):
            raise _refusal(
                "“{field}:” must be followed by {takes}, without brackets or operators.",
                value,
                field=field.name,
                takes=accepted_values(field),
            )
        node = self._value(field, value)
        self._count(value, node)
        return node

    def _value(self, field: Field, value: Token) -> Node:
        if isinstance(field.name, Column) or field.read is None:
            term = _term(value, Column(field.name))
            if term is None:
                raise _refusal(
                    "“{field}:” must be followed by at least one word, for example {field}:recipe.",
                    value,
                    field=field.name,
                )
            return term
        if value.has_star or not value.text.strip():
            raise self._invalid_value(field, value)
        try:
            return FieldCondition(field.name, field.read(_collapse_spaces(value.text)))
        except (ValueError, OverflowError):
            raise self._invalid_value(field, value) from None

    def _unknown_field(self, token: Token) -> InvalidQuery:
        name = token.text
        near = difflib.get_close_matches(name.lower(), (*BY_NAME, *ALIASES), n=1)
        if not near:
            return _refusal(
                "Unknown filter “{name}:”. To search for the text, put it in quotes: {quoted}.",
                token,
                name=name,
                quoted=f'"{name}:…"',
            )
        return _refusal(
            "Unknown filter “{name}:”. Did you mean {near}:? To search for the text, put it in "
            "quotes: {quoted}.",
            token,
            self._with_replacement(token, f"{near[0]}:"),
            name=name,
            near=near[0],
            quoted=f'"{name}:…"',
        )

    def _invalid_value(self, field: Field, value: Token) -> InvalidQuery:
        near = difflib.get_close_matches(value.text.lower(), field.values, n=1)
        if not near:
            return _refusal(
                "“{field}:” must be followed by {takes}, not “{value}”.",
                value,
                field=field.name,
                takes=describe_values(field),
                value=value.text,
            )
        return _refusal(
            "“{field}:” must be followed by {takes}, not “{value}”. Did you mean {field}:{near}?",
            value,
            self._with_replacement(value, near[0]),
            field=field.name,
            takes=describe_values(field),
            value=value.text,
            near=near[0],
        )

    def _with_replacement(self, token: Token, instead: str) -> str:
        return self._text[: token.at] + instead + self._text[token.end :]

    def _count(self, token: Token, node: Node | None) -> Node | None:
        self._terms += node is not None
        if self._terms > MAX_TERMS:
            raise _refusal(
                "A search can have at most {most} words and conditions.", token, most=MAX_TERMS
            )
        return node

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _peek(self) -> Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _next_is(self, sign: Sign) -> bool:
        token = self._peek()
        return token is not None and token.sign is sign


def _term(token: Token, column: Column | None) -> Term | None:
    """Return a search term, or None if the token has no letters or digits to search for.

    The scheme and the fragment of a pasted URL are not in the index, so they are dropped.
    """
    address = _ADDRESS.fullmatch(token.text)
    text = address[1] if address else token.text
    return Term(_collapse_spaces(text), column, token.has_star) if words_of(text) else None


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def _refusal(text: str, token: Token, suggestion: str = "", /, **values: object) -> InvalidQuery:
    """Return the error for a token. `.ci/texts` extracts messages from calls of this function."""
    length = token.end - token.at
    return InvalidQuery(text, at=token.at, length=length, suggestion=suggestion, **values)
