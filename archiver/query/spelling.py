"""How far two words are apart, in slips of a hand."""


def distance(one: str, other: str, most: int) -> int | None:
    """Letters to be put in, taken out, changed or swapped with their neighbour; None over ``most``.

    Optimal string alignment (Damerau 1964), given up as soon as it can't end within ``most``.
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for n, letter in enumerate(one, 1):
        row = [n]
        for m, against in enumerate(other, 1):
            cost = min(last[m] + 1, row[m - 1] + 1, last[m - 1] + (letter != against))
            if n > 1 and m > 1 and letter == other[m - 2] and one[n - 2] == against:
                cost = min(cost, before[m - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return None
        before, last = last, row
    return last[-1] if last[-1] <= most else None
