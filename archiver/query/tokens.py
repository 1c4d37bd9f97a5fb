"""From what a person typed to tokens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTES = '"\u201c\u201d\u201e\u00ab\u00bb'
_TOKEN = re.compile(rf"(-?)(?:[{_QUOTES}]([^{_QUOTES}]*+)[{_QUOTES}]?+|([^\s{_QUOTES}()]++))(\*?)")


@dataclass(frozen=True, slots=True)
class Token:
    """One word or phrase as typed.

    Attributes:
        text: without quotes, leading ``-`` and trailing ``*``.
        quoted: it stood in quotes.
        excluded: a ``-`` stood before it.
        prefix: a ``*`` stood behind it.
    """

    text: str
    quoted: bool = False
    excluded: bool = False
    prefix: bool = False

    @property
    def is_or(self) -> bool:
        """Whether it is the operator: upper case, so that the word can be searched for."""
        return self.text == "OR" and not (self.quoted or self.excluded or self.prefix)


def tokenize(text: str) -> Iterator[Token]:
    """Split a query; quotes need no closing, parentheses mean nothing."""
    for minus, phrase, word, star in _TOKEN.findall(text):
        yield Token(
            text=phrase or word.rstrip("*"),
            quoted=not word,
            excluded=bool(minus),
            prefix=bool(star) or word.endswith("*"),
        )
