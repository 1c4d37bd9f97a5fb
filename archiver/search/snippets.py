"""Snippets with marked hits."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from archiver.search.query_tree import Column, Node, Term, positive_terms
from archiver.search.words import FOLDED, UNSPACED, has_unspaced, is_unspaced

LENGTH = 240
"""Approximate number of characters in a snippet."""
_CONTEXT_BEFORE = 60
_MAX_HITS = 200
_MAX_MARKED = 500
"""Maximum highlighted matches in a whole text."""
_MAX_TEXT = 1 << 20
_MAX_WORD_LENGTH = 30
_WORD = re.compile(r"[^\W_]+")
_HIGHLIGHTED_COLUMNS = (None, Column.TITLE)


@dataclass(frozen=True, slots=True)
class SnippetPiece:
    """Piece of a snippet; ``is_match`` says whether it matches the query."""

    text: str
    is_match: bool


def snippet(text: str, tree: Node, *, is_cut: bool = False) -> tuple[SnippetPiece, ...]:
    """Return the part of a text with the most distinct query words, with matches marked.

    Words are compared as in the index, without case and diacritics. If the text has no match, for
    example because only the title matches, the snippet is the start of the text. The result is
    empty for an empty text.

    With ``is_cut``, the text is the start of a longer one. The result is then empty if the longer
    text may have another snippet: it has none if this one contains all query words.
    """
    text = " ".join(text[:_MAX_TEXT].split())
    folded = Folded(text)
    pattern = _pattern_for(folded.text, tree)
    matches = list(islice(pattern.finditer(folded.text), _MAX_HITS))
    hit, distinct = _best_start(matches)
    start, end = _window(text, folded.place(hit))
    if is_cut and (distinct < pattern.groups or end == len(text)):
        return ()
    pieces = list(_pieces(text, start, end, [folded.span(match.span()) for match in matches]))
    return tuple(piece for piece in pieces if piece.text)


def match_positions(text: str, tree: Node) -> list[tuple[int, int]]:
    """Return the (start, end) positions of query words in a text, in order, limited in number."""
    folded = Folded(text[:_MAX_TEXT])
    matches = islice(_pattern_for(folded.text, tree).finditer(folded.text), _MAX_MARKED)
    return [folded.span(match.span()) for match in matches]


def _pattern_for(folded: str, tree: Node) -> re.Pattern[str]:
    """Return the pattern of query words in a folded text."""
    terms = tuple(each for each in positive_terms(tree) if each.column in _HIGHLIGHTED_COLUMNS)
    return _pattern(terms, is_spaced=not has_unspaced(folded))


class Folded:
    """Folded text, with the positions of its characters in the original text.

    Attributes:
        text: the text without case, diacritics and invisible characters.
    """

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._places: list[int] = []
        """Positions in the folded text at which the offset to the original text changes."""
        self._differences = [0]
        if text.isascii():
            self.text = text.lower()
            return
        self.text = text.translate(FOLDED)
        changed = [each for each in set(text) if len(FOLDED[ord(each)]) != 1]
        if changed:
            self._find_differences(re.finditer(f"[{re.escape(''.join(changed))}]", text))

    def _find_differences(self, changed: Iterator[re.Match[str]]) -> None:
        for match in changed:
            length = len(FOLDED[ord(match[0])])
            difference = self._differences[-1]
            self._places.append(match.start() - difference + length)
            self._differences.append(difference + 1 - length)

    def place(self, pos: int) -> int:
        """Return the position in the original text of a position in the folded text."""
        return min(pos + self._differences[bisect_right(self._places, pos)], self._length)

    def span(self, span_found: tuple[int, int]) -> tuple[int, int]:
        """Return (start, end) in the original text of a span in the folded text.

        Combining marks after the last character are included.
        """
        return self.place(span_found[0]), self.place(span_found[1])


@lru_cache(maxsize=64)
def _pattern(terms: tuple[Term, ...], *, is_spaced: bool) -> re.Pattern[str]:
    """Compile a pattern for terms at the start of words, with one group for each term.

    Longer terms are tried first.

    In scripts without spaces, words start and end anywhere. ``is_spaced`` means that the text uses
    no such script. The pattern then omits the characters of these scripts, which are slow to
    compile.
    """
    written = []
    for term in sorted(terms, key=lambda term: len(term.text), reverse=True):
        words = _WORD.findall(term.text.translate(FOLDED))
        if words:
            phrase = r"[\W_]{1,20}+".join(words)
            begin, end = _start_pattern(phrase[0], is_spaced), _end_pattern(words, term, is_spaced)
            written.append(f"({phrase[0]}{begin}{phrase[1:]}{end})")
    return re.compile("|".join(written) or r"(?!)")


def _start_pattern(first: str, is_spaced: bool) -> str:
    """Return a lookbehind for the start of a word, to be placed after its first letter.

    Searching for the letter first is faster than testing each position.
    """
    if is_unspaced(first):
        return ""
    if is_spaced:
        return rf"(?<![^\W_]{first})"
    return rf"(?:(?<![^\W_]{first})|(?<=[{UNSPACED}]{first}))"


def _end_pattern(words: Sequence[str], term: Term, is_spaced: bool) -> str:
    if is_unspaced(words[-1][-1]):
        return ""
    letter = r"[^\W_]" if is_spaced else rf"(?![{UNSPACED}])[^\W_]"
    return rf"(?:{letter})*+" if term.prefix else rf"(?!{letter})"


def _best_start(hits: Sequence[re.Match[str]]) -> tuple[int, int]:
    """Return the start of the match from which a snippet has the most distinct terms.

    The second value is the number of these terms.
    """
    best = most = distinct = after = 0
    near = Counter[int | None]()
    for hit in hits:
        while after < len(hits) and hits[after].end() <= hit.start() + LENGTH - _CONTEXT_BEFORE:
            near[hits[after].lastindex] += 1
            distinct += near[hits[after].lastindex] == 1
            after += 1
        if distinct > most:
            best, most = hit.start(), distinct
        near[hit.lastindex] -= 1
        distinct -= near[hit.lastindex] == 0
    return best, most


def _window(text: str, hit: int) -> tuple[int, int]:
    """Return the start and end of the snippet around a match, at spaces if there are any nearby."""
    start = max(0, hit - _CONTEXT_BEFORE)
    if start:
        space = text.find(" ", start, hit)
        start = space + 1 if space >= 0 else start
    end = min(len(text), start + LENGTH)
    if end < len(text):
        space = text.rfind(" ", end - _MAX_WORD_LENGTH, end)
        end = space if space > hit else end
    return start, end


def _pieces(text: str, start: int, end: int, hits: list[tuple[int, int]]) -> Iterator[SnippetPiece]:
    if start:
        yield SnippetPiece("… ", is_match=False)
    pos = start
    for first, last in hits:
        if start <= first and last <= end:
            yield SnippetPiece(text[pos:first], is_match=False)
            yield SnippetPiece(text[first:last], is_match=True)
            pos = last
    yield SnippetPiece(text[pos:end], is_match=False)
    if end < len(text):
        yield SnippetPiece(" …", is_match=False)
