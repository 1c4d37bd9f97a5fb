"""Spelling distance of words."""

from string import ascii_lowercase, digits

LETTERS = ascii_lowercase + digits
LONGEST_TRIED = 30
"""Letters of a word whose slips are made: of more it would be thousands of words."""


def distance(one: str, other: str, most: int) -> int | None:
    """Letters to be put in, taken out, changed or swapped with their neighbour; None over ``most``.

    Optimal string alignment (Damerau 1964), given up as soon as it can't end within ``most``.
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


def slips(word: str) -> set[str]:
    """All words one slip away, as far as they have its own letters, Latin ones and digits."""
    if len(word) > LONGEST_TRIED:
        return set()
    letters = {*LETTERS, *word}
    parted = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    left_out = {before + behind[1:] for before, behind in parted if behind}
    swapped = {before + behind[1] + behind[0] + behind[2:] for before, behind in parted[:-2]}
    put_in = {before + each + behind for before, behind in parted for each in letters}
    changed = {before + each + behind[1:] for before, behind in parted[:-1] for each in letters}
    return (left_out | swapped | put_in | changed) - {word}


def twice_left_out(word: str) -> set[str]:
    """All that is left of a word without two of its letters."""
    if len(word) > LONGEST_TRIED:
        return set()
    places = range(len(word))
    return {word[:n] + word[n + 1 : m] + word[m + 1 :] for n in places for m in places if n < m}
