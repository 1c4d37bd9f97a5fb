"""Chooses what is the article of a page, and clears it; tries again where too little was found."""

from copy import deepcopy

from lxml.etree import _Element as Element

from archiver.html.reader.clear import Rules, clear_away
from archiver.html.reader.lead import title_of
from archiver.html.reader.names import HEADINGS
from archiver.html.reader.scoring import Scores, make_root
from archiver.html.reader.tree import first_text
from archiver.html.reader.twice import drop_lists_shown_twice

ENOUGH_CHARACTERS = 500
MUCH_MORE = 1.9
"""Of a page with less, so many times what was found before is worth being less strict for."""

NEXT_TO_NOTHING, MANY_TIMES = 100, 2
"""Of a page with no more characters, so many times that is what it calls its main part worth."""

_ATTEMPTS = (
    (True, Rules()),
    (False, Rules()),
    (False, Rules(weighted=False)),
    (False, Rules(conditional=False, weighted=False)),
)
"""Whether what is unlikely by name goes, and how strictly the rest is cleared."""


LONGEST_TITLE = 1000

FEWEST_TEASERS = 3
"""So many headings that lead away, beside one of their own at most, are a list of other pages."""


def choose_article(body: Element, title: str = "") -> Element | None:
    """The article of a page, cleared, in an element of its own; None if there is nothing.

    ``title`` is the page's.
    """
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
    if best is not None and best[0] and (short := _titled(body, title, best[1])) is not None:
        return short
    if best is None or best[0] < NEXT_TO_NOTHING:
        best = _main_part(body, best)
    return best[1] if best and (best[0] or len(best[1])) else None


def _main_part(body: Element, best: tuple[int, Element] | None) -> tuple[int, Element] | None:
    """What the page itself calls its main part, where next to nothing is an article: a list."""
    page = deepcopy(body.getparent()).find("body")
    parts = [each for each in page.iter() if each.tag == "main" or each.get("role") == "main"]
    if not parts:
        return best
    root = make_root((parts[0],))
    found = clear_away(root, Rules(conditional=False), {}).worth
    return (found, root) if best is None or found > MANY_TIMES * best[0] else best


def _titled(body: Element, title: str, chosen: Element) -> Element | None:
    """The ``article`` with the title of the page, if what was chosen has teasers of others, too.

    A post of one line stands above them, and each says more than it.
    """
    heading = title_of(body, title)
    holder = next(heading.iterancestors("article"), None) if heading is not None else None
    if holder is None or not any(first_text(p, 1) for p in holder.iter("p")):
        return None
    own = {first_text(each, LONGEST_TITLE) for each in holder.iter(*HEADINGS)}
    others = [e for e in chosen.iter(*HEADINGS) if first_text(e, LONGEST_TITLE) not in own]
    teasers = [each for each in others if _leads_away(each, holder.get("class"))]
    if len(teasers) < FEWEST_TEASERS or len(others) > len(teasers) + 1:
        return None
    root = make_root((deepcopy(holder),))
    return root if clear_away(root, Rules(conditional=False), {}).text else None


def _leads_away(heading: Element, name: str | None) -> bool:
    """Whether a heading leads to another page, and stands in no ``article`` of that class."""
    link = next(heading.iter("a"), None)
    link = next(heading.iterancestors("a"), None) if link is None else link
    around = next(heading.iterancestors("article"), None)
    is_like = around is not None and around.get("class") == name
    return link is not None and not is_like and not (link.get("href") or "#").startswith("#")
