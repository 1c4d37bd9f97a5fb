"""Notes of one link from several places, as one: by paragraphs, each kept once."""

import re

BETWEEN = "\n\n"
_BLANK_LINES = re.compile(r"\n\s*\n")


def paragraphs(note: str) -> list[str]:
    """What blank lines part in it, without what is blank itself, and without the ends of lines."""
    parts = _BLANK_LINES.split(f"{BETWEEN}{note}{BETWEEN}")
    return [each.rstrip() for each in parts if each.strip()]


def merged_notes(first: str, later: str) -> str:
    """The first as it is, then each paragraph of the later one that it does not have, once.

    How several were put together before does not matter: merging is associative.
    """
    if later in ("", first):
        return first
    known = paragraphs(first)
    if not known:
        return later if paragraphs(later) else first
    more = new_paragraphs(known, later)
    return BETWEEN.join((first, *more))


def new_paragraphs(known: list[str], note: str) -> list[str]:
    """The paragraphs of a note that are not among the known ones, each once."""
    there = {each.strip() for each in known}
    kept: dict[str, str] = {}
    for each in paragraphs(note):
        kept.setdefault(each.strip(), each)
    return [each for name, each in kept.items() if name not in there]
