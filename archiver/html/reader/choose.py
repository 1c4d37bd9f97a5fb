"""Chooses what is the article of a page, and clears it; tries again where too little was found."""

from copy import deepcopy

from lxml.etree import _Element as Element

from archiver.html.reader.clear import Rules, clear_away
from archiver.html.reader.scoring import Scores, make_root

ENOUGH_CHARACTERS = 500
_ATTEMPTS = (
    (True, Rules()),
    (False, Rules()),
    (False, Rules(weighted=False)),
    (False, Rules(conditional=False, weighted=False)),
)
"""Whether what is unlikely by name goes, and how strictly the rest is cleared."""


def choose_article(body: Element) -> Element | None:
    """The article of a page, cleared, in an element of its own; None if there is nothing."""
    best: tuple[int, Element] | None = None
    for strict, rules in _ATTEMPTS:
        page = deepcopy(body.getparent()).find("body")
        choice = Scores(page, strict=strict, weighted=rules.weighted).choose()
        root = make_root(choice.parts)
        left = clear_away(root, rules)
        if left.text >= ENOUGH_CHARACTERS:
            return root
        if best is None or left.text > best[0]:
            best = left.text, root
    return best[1] if best and (best[0] or len(best[1])) else None
