"""A page, as it is fed to what leads it into the archive, and where that leads to."""

import random
from typing import Protocol

PAGE = "https://example.com/dir/page.html"
MOMENT = "20240229120001"


class Fed(Protocol):
    """What is given a text in pieces, and gives what came of it."""

    def feed(self, text: str, /) -> str:
        """Take a piece."""

    def close(self) -> str:
        """Take the end."""


def fed(reader: Fed, text: str, seed: int | None) -> str:
    """What comes of a text; with a ``seed``, given in pieces of random small sizes."""
    chosen = random.Random(seed)
    out, at = [], 0
    while at < len(text):
        size = len(text) if seed is None else chosen.choice((1, 1, 2, 3, 7, 20))
        out.append(reader.feed(text[at : at + size]))
        at += size
    return "".join(out) + reader.close()


def led_to(url: str, modifier: str = "") -> str:
    """The path of a memento of the page's time; a relative URL is one beside the page."""
    absolute = url if "://" in url else f"https://example.com/dir/{url}"
    return f"/web/{MOMENT}{modifier}/{absolute}"
