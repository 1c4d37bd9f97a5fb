"""Corrections of expected articles; results are printed with and without them.

A first heading that repeats the page title is ignored on both sides, because the title is shown
above the article. ``reading_judged.toml`` lists parts that the expected article omits but that
belong to it, judged by hand; they are not expected, but correct if found.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

JUDGED = Path(__file__).with_name("reading_judged.toml")
KINDS = ("pictures", "figures", "captions", "headings", "list items", "tables", "code")
"""Other kinds of parts with judgements."""

_SIGNS = re.compile(r"[\W_]+")

Judged = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Beginnings of correct parts that the expected article lacks, by page and kind."""


def read_judged() -> Judged:
    """Return the judgements for each part."""
    pages = tomllib.loads(JUDGED.read_text(encoding="utf-8"))["page"]
    return {page["name"]: {kind: tuple(page.get(kind, ())) for kind in KINDS} for page in pages}


def without_title(headings: list[frozenset[str]], title: str) -> list[frozenset[str]]:
    """Return the headings of an article except a first one that repeats the title."""
    first = _bare(" ".join(headings[0])) if headings else ""
    return headings[1:] if first and first in _bare(title) else headings


def judged_right(parts: list[frozenset[str]], beginnings: tuple[str, ...]) -> list[frozenset[str]]:
    """Return the parts that were judged to belong to the article, by their beginnings."""
    return [keys for keys in parts if any(key.startswith(beginnings) for key in keys)]


def _bare(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()
