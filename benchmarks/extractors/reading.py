"""What an extractor is asked, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass

FACTS = ("title", "author", "date")


@dataclass(frozen=True, slots=True)
class Reading:
    """What an extractor read: HTML, the facts it names, and CPU ms."""

    html: str
    facts: dict[str, str]
    cost: float = 0.0


Reader = Callable[[str, str], Reading]
"""Reads a page: its HTML, and the address it was at."""
