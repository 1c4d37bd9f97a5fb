"""Snippets with marked hits."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from archiver.search.query_tree import Column, Node, Term, sought
from archiver.search.words import UNSPACED, has_unspaced, is_unspaced

LENGTH = 240
"""Characters of a snippet, give or take a word."""
_BEFORE = 60
_MOST_HITS = 200
_MOST_MARKED = 500
"""In a whole text."""
_MOST_TEXT = 1 << 20
_LONGEST_WORD = 30
_WORD = re.compile(r"[^\W_]+")
_SHOWN = (None, Column.TITLE)


@dataclass(frozen=True, slots=True)
class Marked:
    """A piece of a snippet, and whether it is one of the words that were looked for."""

    text: str
    hit: bool


def snippet(text: str, tree: Node) -> tuple[Marked, ...]:
    """Cut out where most of a query's words stand together, and mark them.

    Words are compared as the index does: without case or diacritics. A text that holds none of
    them (the title did) gives its beginning, unmarked; an empty one gives nothing.
    """
    text = " ".join(text[:_MOST_TEXT].split())
    folded = _fold(text)
    hits = [match.span() for match in islice(_matches(folded, tree), _MOST_HITS)]
    start, end = _window(text, _best(folded, hits))
    pieces = list(_pieces(text, start, end, hits))
    return tuple(piece for piece in pieces if piece.text)


def places(text: str, tree: Node) -> list[tuple[int, int]]:
    """Where the words of a query stand in a text: stretches in order, the first few hundred."""
    folded = _fold(text[:_MOST_TEXT])
    return [match.span() for match in islice(_matches(folded, tree), _MOST_MARKED)]


def _matches(folded: str, tree: Node) -> Iterator[re.Match[str]]:
    """Where the words of a query stand in a folded text."""
    wanted = tuple(each for each in sought(tree) if each.column in _SHOWN)
    return _pattern(wanted, is_spaced=not has_unspaced(folded)).finditer(folded)


class _Folding(dict[int, int]):
    """Each character without case and diacritics, made when it is first met; one for one."""

    def __missing__(self, code: int) -> int:
        base = unicodedata.normalize("NFD", chr(code))[0]
        lower = base.lower()
        self[code] = folded = ord(lower if len(lower) == 1 else base)
        return folded


_FOLDED = _Folding()


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_FOLDED)


@lru_cache(maxsize=64)
def _pattern(wanted: tuple[Term, ...], *, is_spaced: bool) -> re.Pattern[str]:
    """Match any of the terms where a word begins; longer ones are tried first.

    In scripts without spaces a word begins and ends anywhere. A text that has none is told so: to
    compile their ranges takes longer than to look through it.
    """
    written = []
    for term in sorted(wanted, key=lambda term: len(term.text), reverse=True):
        words = _WORD.findall(term.text.translate(_FOLDED))
        if words:
            phrase = r"[\W_]{1,20}+".join(words)
            begin, end = _begin(phrase[0], is_spaced), _end(words, term, is_spaced)
            # One letter and two, which the index takes for the same.
            others = phrase[1:].replace("ß", "ss").replace("ss", "(?:ss|ß)")
            written.append(phrase[0] + begin + others + end)
    return re.compile("|".join(written) or r"(?!)")


def _begin(first: str, is_spaced: bool) -> str:
    """What stands before a word's first letter, asked behind it: letters are found quickly."""
    if is_unspaced(first):
        return ""
    if is_spaced:
        return rf"(?<![^\W_]{first})"
    return rf"(?:(?<![^\W_]{first})|(?<=[{UNSPACED}]{first}))"


def _end(words: Sequence[str], term: Term, is_spaced: bool) -> str:
    if is_unspaced(words[-1][-1]):
        return ""
    letter = r"[^\W_]" if is_spaced else rf"(?![{UNSPACED}])[^\W_]"
    return rf"(?:{letter})*+" if term.prefix else rf"(?!{letter})"


def _best(folded: str, hits: list[tuple[int, int]]) -> int:
    """Find the hit that most different words follow within a snippet's length."""
    best = most = 0
    for index, (start, _) in enumerate(hits):
        near = {
            folded[first:last]
            for first, last in islice(hits, index, index + LENGTH // 4)
            if last <= start + LENGTH - _BEFORE
        }
        if len(near) > most:
            best, most = start, len(near)
    return best


def _window(text: str, hit: int) -> tuple[int, int]:
    """Choose where a snippet around a hit begins and ends: at spaces, if there are any near."""
    start = max(0, hit - _BEFORE)
    if start:
        space = text.find(" ", start, hit)
        start = space + 1 if space >= 0 else start
    end = min(len(text), start + LENGTH)
    if end < len(text):
        space = text.rfind(" ", end - _LONGEST_WORD, end)
        end = space if space > hit else end
    return start, end


def _pieces(text: str, start: int, end: int, hits: list[tuple[int, int]]) -> Iterator[Marked]:
    if start:
        yield Marked("… ", hit=False)
    at = start
    for first, last in hits:
        if start <= first and last <= end:
            yield Marked(text[at:first], hit=False)
            yield Marked(text[first:last], hit=True)
            at = last
    yield Marked(text[at:end], hit=False)
    if end < len(text):
        yield Marked(" …", hit=False)
