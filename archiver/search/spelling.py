"""Edit distance and spelling variants of words."""

from string import ascii_lowercase, digits

LETTERS = ascii_lowercase + digits
MAX_VARIANT_LENGTH = 30
"""Maximum length of a word whose variants are generated; longer words have thousands."""


def distance(one: str, other: str, most: int) -> int | None:
    """Return the edit distance of two words, or None if it is more than ``most``.

    Edits are insertions, deletions, substitutions and swaps of neighbours (optimal string
    alignment, Damerau 1964). The time is limited, since it stops when ``most`` is exceeded.
    """
    beyond, end = most + 1, len(other)
    if abs(len(one) - end) > most:
        return None
    before: list[int] = []
    last = [min(m, beyond) for m in range(end + 1)]
    for n, letter in enumerate(one, 1):
        row = [min(n, beyond)] + [beyond] * end
        first, until = max(1, n - most), min(end, n + most) + 1  # all others are further apart
        for m in range(first, until):
            against = other[m - 1]
            cost = min(last[m] + 1, row[m - 1] + 1, last[m - 1] + (letter != against))
            if n > 1 and m > 1 and letter == other[m - 2] and one[n - 2] == against:
                cost = min(cost, before[m - 2] + 1)
            row[m] = cost
        if min(row[first - 1 : until]) > most:
            return None
        before, last = last, row
    return last[-1] if last[-1] <= most else None


def words_one_edit_away(word: str) -> set[str]:
    """Return all words at edit distance 1; empty for a word that is too long.

    Inserted and substituted characters are the word's own letters, a-z and digits.
    """
    if len(word) > MAX_VARIANT_LENGTH:
        return set()
    letters = {*LETTERS, *word}
    splits = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    deletions = {head + tail[1:] for head, tail in splits if tail}
    transpositions = {head + tail[1] + tail[0] + tail[2:] for head, tail in splits[:-2]}
    insertions = {head + each + tail for head, tail in splits for each in letters}
    substitutions = {head + each + tail[1:] for head, tail in splits[:-1] for each in letters}
    return (deletions | transpositions | insertions | substitutions) - {word}


def words_with_two_deletions(word: str) -> set[str]:
    """Return all words that result from removing two letters of a word; empty if it is too long."""
    if len(word) > MAX_VARIANT_LENGTH:
        return set()
    places = range(len(word))
    return {word[:n] + word[n + 1 : m] + word[m + 1 :] for n in places for m in places if n < m}
