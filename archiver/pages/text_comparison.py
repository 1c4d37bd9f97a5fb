"""Comparison of two texts."""

import re
from collections.abc import Iterable, Iterator, Sequence

from rapidfuzz.distance import LCSseq

from archiver.model.page import Comparison, Piece, Side

MAX_COMPARED = 400_000
"""Maximum number of characters of each text that are compared."""
MAX_CELLS = 40_000_000
"""Maximum product of the lengths of two sequences of tokens or paragraphs that are compared.

Longer sequences count as completely different.
"""
_TOKEN = re.compile(r"\s+|[^\W\u3040-\u9fff]+|[\u3040-\u9fff]|[^\w\s]")
"""Token: white space, a word, a sign, or a single character of a script without spaces."""
_WORD = re.compile(r"[^\W\u3040-\u9fff]+|[\u3040-\u9fff]")


def compare(before: str, after: str) -> Comparison:
    """Compare two texts. Each line is a paragraph. The amount of white space is ignored."""
    first, second = before[:MAX_COMPARED], after[:MAX_COMPARED]
    pieces = tuple(_joined(_by_paragraph(_paragraphs(first), _paragraphs(second))))
    counts = {side: sum(_count(each.text) for each in pieces if each.side is side) for side in Side}
    return Comparison(
        pieces,
        added_words=counts[Side.AFTER],
        removed_words=counts[Side.BEFORE],
        words=counts[Side.BOTH] + max(counts[Side.AFTER], counts[Side.BEFORE]),
        is_whole=(first, second) == (before, after),
    )


def _paragraphs(text: str) -> list[str]:
    return [" ".join(line.split()) + "\n" for line in text.splitlines() if line.strip()]


def _count(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _by_paragraph(before: Sequence[str], after: Sequence[str]) -> Iterator[Piece]:
    for same, (start, end), (begin, stop) in _steps(before, after):
        if same:
            yield Piece(Side.BOTH, "".join(before[start:end]))
        else:
            yield from _by_word("".join(before[start:end]), "".join(after[begin:stop]))


def _by_word(before: str, after: str) -> Iterator[Piece]:
    one, other = _TOKEN.findall(before), _TOKEN.findall(after)
    for same, (start, end), (begin, stop) in _steps(one, other):
        if same:
            yield Piece(Side.BOTH, "".join(one[start:end]))
        else:
            yield Piece(Side.BEFORE, "".join(one[start:end]))
            yield Piece(Side.AFTER, "".join(other[begin:stop]))


def _steps(
    before: Sequence[str], after: Sequence[str]
) -> Iterator[tuple[bool, tuple[int, int], tuple[int, int]]]:
    """Yield (is equal, range in ``before``, range in ``after``) in order."""
    if len(before) * len(after) > MAX_CELLS:
        yield False, (0, len(before)), (0, len(after))
        return
    runs: list[tuple[bool, tuple[int, int], tuple[int, int]]] = []
    for step in LCSseq.opcodes(before, after):
        same = step.tag == "equal"
        ranges = (step.src_start, step.src_end), (step.dest_start, step.dest_end)
        if runs and not same and not runs[-1][0]:
            _, (start, _), (begin, _) = runs.pop()
            ranges = (start, step.src_end), (begin, step.dest_end)
        runs.append((same, *ranges))
    yield from runs


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Merge adjacent pieces of the same side, and drop empty pieces."""
    merged: list[Piece] = []
    for each in pieces:
        if not each.text:
            continue
        if merged and merged[-1].side is each.side:
            merged[-1] = Piece(each.side, merged[-1].text + each.text)
        else:
            merged.append(each)
    yield from merged
