"""Other forms of a word, as English makes them: what a title may have in its place."""

import re
from collections.abc import Iterator

from archiver.query.tree import Term
from archiver.query.words import phrase_of

MOST_TERMS = 8
"""Of a query whose words are taken in other forms, too."""
_WORD = re.compile(r"[a-z]{4,}")
_ENDINGS = ("ing", "ies", "ied", "es", "ed", "er", "s", "e")
_SHORTEST_STEM = 3


def forms_of(term: Term) -> tuple[Term, ...]:
    """A term, and other forms of it where it is one whole word; some are words of no language."""
    words = phrase_of(term.text)
    if term.prefix or len(words) != 1 or not _WORD.fullmatch(words[0]):
        return (term,)
    return (term, *(Term(form, term.column) for form in dict.fromkeys(_forms(words[0]))))


def _forms(word: str) -> Iterator[str]:
    stem = _stem(word)
    for ending in ("", "s", "es", "e", "ed", "ing", "er"):
        yield stem + ending
    if stem.endswith("y"):
        yield f"{stem[:-1]}ies"
        yield f"{stem[:-1]}ied"


def _stem(word: str) -> str:
    if word.endswith("ss"):
        return word
    ending = next((each for each in _ENDINGS if word.endswith(each)), "")
    stem = word.removesuffix(ending)
    if len(stem) < _SHORTEST_STEM:
        return word
    return f"{stem}y" if ending in ("ies", "ied") else stem
