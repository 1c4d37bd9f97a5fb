"""Chooses what is the article of a page, and clears it; tries again where too little was found."""

from copy import deepcopy

from lxml.etree import _Element as Element

from archiver.html.reader.clear import Rules, clear_away
from archiver.html.reader.scoring import Scores, make_root
from archiver.html.reader.twice import drop_lists_shown_twice

ENOUGH_CHARACTERS = 500
MUCH_MORE = 1.9
"""Of a page with less, so many times what was found before is worth being less strict for."""

_ATTEMPTS = (
    (True, Rules()),
    (False, Rules()),
    (False, Rules(weighted=False)),
    (False, Rules(conditional=False, weighted=False)),
)
"""Whether what is unlikely by name goes, and how strictly the rest is cleared."""


def choose_article(body: Element) -> Element | None:
    """The article of a page, cleared, in an element of its own; None if there is nothing."""
    drop_lists_shown_twice(body)
    best: tuple[int, Element] | None = None
    for strict, rules in _ATTEMPTS:
        page = deepcopy(body.getparent()).find("body")
        scores = Scores(page, strict=strict, weighted=rules.weighted)
        root = make_root(scores.choose().parts)
        found = clear_away(root, rules, scores.measures).worth
        if best is None or found > MUCH_MORE * best[0]:
            best = found, root
            if found >= ENOUGH_CHARACTERS:
                break
    return best[1] if best and (best[0] or len(best[1])) else None
