"""What a reader sees of an article, where that is another thing than the expected one says.

Two things are counted apart, so that both numbers are printed. The first heading of an article
that says the title of its page is left out on both sides: the title stands above it, once. And
``reading_judged.toml`` lists parts that the expected article of a page leaves out, and a reader
counts as of it: each was looked at on its page. They are not expected; where they are found, they
are right.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

JUDGED = Path(__file__).with_name("reading_judged.toml")
KINDS = ("pictures", "figures", "captions", "headings", "list items", "tables", "code")
"""The kinds of parts that are counted so, too."""

_SIGNS = re.compile(r"[\W_]+")

Judged = Mapping[str, Mapping[str, tuple[str, ...]]]
"""How parts begin that are right though not expected, by page and kind."""


def read_judged() -> Judged:
    """What was judged, part by part."""
    pages = tomllib.loads(JUDGED.read_text(encoding="utf-8"))["page"]
    return {page["name"]: {kind: tuple(page.get(kind, ())) for kind in KINDS} for page in pages}


def without_title(headings: list[frozenset[str]], title: str) -> list[frozenset[str]]:
    """The headings of an article but for a first one that says the title."""
    first = _bare(" ".join(headings[0])) if headings else ""
    return headings[1:] if first and first in _bare(title) else headings


def judged_right(parts: list[frozenset[str]], beginnings: tuple[str, ...]) -> list[frozenset[str]]:
    """Those of the parts found that begin as one that was judged to be the article's."""
    return [keys for keys in parts if any(key.startswith(beginnings) for key in keys)]


def _bare(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()
