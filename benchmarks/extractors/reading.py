"""Input and output of extractors."""

from collections.abc import Callable
from dataclasses import dataclass

FACTS = ("title", "author", "date")


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of an extractor: HTML, metadata, and CPU ms."""

    html: str
    facts: dict[str, str]
    cost: float = 0.0


Reader = Callable[[str, str], Reading]
"""Function that extracts a page, given its HTML and URL."""
