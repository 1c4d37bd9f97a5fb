"""Positions of highlights in an article's text."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from rapidfuzz import fuzz

from archiver.model.annotation import Highlight

CONTEXT = 48
"""Number of characters stored before and after a quotation."""
MAX_TEXT = 400_000
"""Maximum characters of a text for fuzzy matching."""
MAX_FUZZY = 40
"""Maximum number of highlights of one article that are found by fuzzy matching."""
MAX_PLACES = 200
MIN_SIMILARITY = 78.0
"""Minimum similarity in percent for a passage to match a highlight."""
_EDGE = 120
"""Number of characters at each end of a quotation that are used to find similar passages."""
_SLACK = 30
_SIMILARITY_TOLERANCE = 3.0
"""Difference of similarities in percentage points below which two passages are equally similar."""
_NUMBER = re.compile(r"\d+")


def anchor(text: str, highlights: Sequence[Highlight]) -> list[tuple[int, int] | None]:
    """Return the (start, end) of each highlight in a text; None if the text does not contain it.

    The same words at the same position are preferred, then the same words with the most similar
    context, then similar words.
    """
    fuzzy_left = MAX_FUZZY if len(text) <= MAX_TEXT else 0
    ranges: list[tuple[int, int] | None] = []
    for each in highlights:
        place = _same(text, each)
        if place is None and fuzzy_left:
            fuzzy_left -= 1
            place = _most_similar(text, each.quote)
        ranges.append(place)
    return ranges


def quoted(text: str, start: int, end: int) -> tuple[str, str, str]:
    """Return a passage of text with its context before and after."""
    return text[start:end], text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]


def look_up(text: str, words: str) -> tuple[int, int] | None:
    """Return (start, end) of words in a text, or of similar words; None if there are none.

    The amount of white space is ignored.
    """
    pieces = words.split()
    if not pieces:
        return None
    pattern = re.compile(r"\s*".join(map(re.escape, pieces)))
    match = pattern.search(text)
    if match:
        return match.span()
    return _most_similar(text, words) if len(text) <= MAX_TEXT else None


def _same(text: str, highlight: Highlight) -> tuple[int, int] | None:
    quote, start = highlight.quote, highlight.start
    if not quote:
        return None
    if start >= 0 and text.startswith(quote, start):
        return start, start + len(quote)
    places: list[int] = []
    pos = text.find(quote)
    while pos >= 0 and len(places) < MAX_PLACES:
        places.append(pos)
        pos = text.find(quote, pos + 1)
    if not places:
        return None
    best = max(places, key=lambda each: (_fit(text, each, highlight), -abs(each - start)))
    return best, best + len(quote)


def _fit(text: str, start: int, highlight: Highlight) -> float:
    _, prefix, suffix = quoted(text, start, start + len(highlight.quote))
    return fuzz.ratio(prefix, highlight.prefix) + fuzz.ratio(suffix, highlight.suffix)


def _most_similar(text: str, quote: str) -> tuple[int, int] | None:
    """Return the passage that is most similar to a quotation, at word boundaries, if any."""
    head = _similar_range(text, quote[:_EDGE])
    if head is None:
        return None
    if len(quote) <= _EDGE:
        start, end = head
    else:
        after = text[head[0] : head[0] + 2 * len(quote)]
        tail = _similar_range(after, quote[-_EDGE:])
        if tail is None:
            return None
        start, end = head[0], head[0] + tail[1]
    start, end = _at_word_boundaries(text, start, end)
    return (
        (start, end) if start < end and not _differs_in_numbers(text, quote, start, end) else None
    )


def _differs_in_numbers(text: str, quote: str, start: int, end: int) -> bool:
    """Return whether a passage is probably a wrong match, because its numbers differ.

    The result is True only if another part of the text is about as similar to the quotation, as in
    rows of a table, numbered notes and versions.
    """
    ours, theirs = ({*_NUMBER.findall(each)} for each in (quote, text[start:end]))
    if not ours or not theirs or ours & theirs:
        return False
    elsewhere = f"{text[:start]}\n{text[end:]}"
    likeness = fuzz.partial_ratio(quote[:_EDGE], text[start:end])
    return fuzz.partial_ratio(quote[:_EDGE], elsewhere) >= likeness - _SIMILARITY_TOLERANCE


def _similar_range(text: str, part: str) -> tuple[int, int] | None:
    alignment = fuzz.partial_ratio_alignment(part, text, score_cutoff=MIN_SIMILARITY)
    return (alignment.dest_start, alignment.dest_end) if alignment else None


def _at_word_boundaries(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a range without white space at its ends.

    An end within a word is moved to the nearest word boundary.
    """
    shift = max(0, start - _SLACK)
    near = text[shift : end + _SLACK]
    edges = [each.start() + shift for each in re.finditer(r"\b", near)]
    start = _nearest(edges, start) if _is_within_word(text, start) else start
    end = _nearest(edges, end) if _is_within_word(text, end) else end
    words = text[start:end]
    return start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())


def _nearest(edges: Sequence[int], place: int) -> int:
    pos = bisect_left(edges, place)
    return min(edges[max(0, pos - 1) : pos + 1], key=lambda each: abs(each - place), default=place)


def _is_within_word(text: str, place: int) -> bool:
    return text[max(0, place - 1) : place].isalnum() and text[place : place + 1].isalnum()
