"""Moments laid out as a calendar: years, and how much there is in each month of them."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Month:
    """What there is of a month: how many, and the newest; empty if there is nothing."""

    count: int
    newest: str


@dataclass(frozen=True, slots=True)
class Year:
    """What there is of a year by month."""

    name: str
    count: int
    months: tuple[Month, ...]


def calendar(timestamps: Iterable[str]) -> tuple[Year, ...]:
    """Timestamps of 14 digits, newest first, by year and month, the newest year first."""
    found: dict[str, dict[str, list[str]]] = {}
    for each in timestamps:
        months = found.setdefault(each[:4], {})
        months.setdefault(each[4:6], []).append(each)
    return tuple(
        Year(
            year,
            sum(map(len, months.values())),
            tuple(
                Month(len(some), some[0] if some else "")
                for n in range(1, 13)
                for some in [months.get(f"{n:02}", [])]
            ),
        )
        for year, months in found.items()
    )
