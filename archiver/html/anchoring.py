"""Finds the words of a highlight in an article's text, also when that has changed since."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from archiver.model.highlight import Highlight

CONTEXT = 48
"""Characters kept of what stands before and behind a quotation."""
MOST_TEXT = 400_000
"""Characters of a text in which likenesses are looked for."""
MOST_ALIKE = 40
"""Highlights of one article that likenesses are looked for of."""
MOST_PLACES = 200
LEAST_LIKENESS = 78.0
"""Of 100, for a stretch of text to count as the one that was marked."""
LEAST_WHOLE = 70.0
"""Of 100, for what was found and the words at its ends."""

_EDGE = 120
"""Characters of the beginning and end of a quotation by which a likeness is found."""
_SLACK = 30
_UNSPACED = "[\u0e00-\u0edf\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
_WORD_EDGE = re.compile(rf"\b|(?<=\S)(?!\S)|(?<!\S)(?=\S)|(?<={_UNSPACED})(?={_UNSPACED})")
"""Of words, and of what stands between spaces; of scripts without spaces at each character."""


def anchor(text: str, highlights: Sequence[Highlight]) -> list[tuple[int, int] | None]:
    """Where each highlight stands in a text, in characters; None where it does not any more.

    The same words at the same place come first, then the same words where what is around them is
    most alike, then words that are much like them.
    """
    left = MOST_ALIKE if len(text) <= MOST_TEXT else 0
    found: list[tuple[int, int] | None] = []
    for each in highlights:
        place = _same(text, each)
        if place is None and left:
            left -= 1
            place = _alike(text, each.quote)
        found.append(place)
    return found


def quoted(text: str, start: int, end: int) -> tuple[str, str, str]:
    """A stretch of text with what stands before and behind it."""
    return text[start:end], text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]


def look_up(text: str, words: str) -> tuple[int, int] | None:
    """Where words stand in a text, however their spaces are; the place most like them else."""
    pieces = words.split()
    if not pieces:
        return None
    pattern = re.compile(r"\s*".join(map(re.escape, pieces)))
    found = pattern.search(text)
    if found:
        return found.span()
    return _alike(text, words) if len(text) <= MOST_TEXT else None


def _same(text: str, highlight: Highlight) -> tuple[int, int] | None:
    quote, start = highlight.quote, highlight.start
    if not quote:
        return None
    if start >= 0 and text.startswith(quote, start):
        return start, start + len(quote)
    places: list[int] = []
    at = text.find(quote)
    while at >= 0 and len(places) < MOST_PLACES:
        places.append(at)
        at = text.find(quote, at + 1)
    if not places:
        return None
    best = max(places, key=lambda each: (_fit(text, each, highlight), -abs(each - start)))
    return best, best + len(quote)


def _fit(text: str, start: int, highlight: Highlight) -> float:
    _, prefix, suffix = quoted(text, start, start + len(highlight.quote))
    return fuzz.ratio(prefix, highlight.prefix) + fuzz.ratio(suffix, highlight.suffix)


def _alike(text: str, quote: str) -> tuple[int, int] | None:
    """The stretch that is most like a quotation, from word to word."""
    head = _likeness(text, quote[:_EDGE])
    if head is None or len(quote) <= _EDGE:
        return head
    rest = text[head[0] : head[0] + 2 * len(quote)]
    tail = _likeness(rest, quote[-_EDGE:])
    return (head[0], head[0] + tail[1]) if tail else None


def _likeness(text: str, part: str) -> tuple[int, int] | None:
    """Where words like those of a part stand; whole words, as many as are like them."""
    found = fuzz.partial_ratio_alignment(part, text, score_cutoff=LEAST_LIKENESS)
    if found is None:
        return None
    start, end = found.dest_start, found.dest_end
    starts = [each for each in _edges(text, start) if each < end]
    start = max(starts, key=lambda each: fuzz.ratio(part, text[each:end]), default=start)
    ends = [each for each in _edges(text, end) if each > start]
    end = max(ends, key=lambda each: fuzz.ratio(part, text[start:each]), default=end)
    words = text[start:end]
    start, end = start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())
    is_whole = start < end and fuzz.ratio(part, text[start:end]) >= LEAST_WHOLE
    return (start, end) if is_whole else None


def _edges(text: str, place: int) -> list[int]:
    """Where words begin and end near a place, in order."""
    shift = max(0, place - _SLACK)
    return [each.start() + shift for each in _WORD_EDGE.finditer(text[shift : place + _SLACK])]
