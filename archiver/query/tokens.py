"""From what a person typed to tokens, each with its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

_QUOTES = '"\u201c\u201d\u201e\u00ab\u00bb'
_TOKEN = re.compile(
    rf"(?P<minus>-+(?=[^\s-]))"
    rf"|(?P<open>\()|(?P<close>\))"
    rf"|(?P<name>[A-Za-z]+):(?=[^\s:)]|[{_QUOTES}])(?!//)"
    rf"|[{_QUOTES}](?P<phrase>[^{_QUOTES}]*+)[{_QUOTES}]?+(?P<star>\*?)"
    rf"|(?P<word>[^\s{_QUOTES}()]++)"
)


class Sign(Enum):
    """What a token is."""

    WORD = auto()
    PHRASE = auto()
    FIELD = auto()
    MINUS = auto()
    OPEN = auto()
    CLOSE = auto()
    OR = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query.

    Attributes:
        sign: what it is.
        at, end: where it begins, and where what follows it does, in characters.
        text: without quotes, colon or stars.
        has_star: a ``*`` stood behind it.
    """

    sign: Sign
    at: int
    end: int
    text: str = ""
    has_star: bool = False


def tokenize(text: str) -> Iterator[Token]:
    """Split a query. Quotes need no closing; OR is upper case, so that the word can be found."""
    at = 0
    while found := _TOKEN.search(text, at):
        yield _token(found)
        at = found.end()


def _token(found: re.Match[str]) -> Token:
    at, end, kind = found.start(), found.end(), found.lastgroup
    if kind in ("phrase", "star"):
        return Token(Sign.PHRASE, at, end, found["phrase"], bool(found["star"]))
    if kind == "name":
        return Token(Sign.FIELD, at, end, found["name"])
    if kind == "word":
        word = found["word"]
        if word == "OR":
            return Token(Sign.OR, at, end, word)
        return Token(Sign.WORD, at, end, word.rstrip("*"), word.endswith("*"))
    return Token({"minus": Sign.MINUS, "open": Sign.OPEN, "close": Sign.CLOSE}[str(kind)], at, end)
