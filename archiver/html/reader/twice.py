"""Lists of links that stand twice on a page: above and below the matter, they lead around it."""

from itertools import islice

from lxml.etree import _Element as Element

from archiver.html.reader.tree import remove

FEWEST_LINKS = 2
MOST_LINKS = 40
LINKED = 0.4
"""The least share of links in the text of such a list."""


def drop_lists_shown_twice(body: Element) -> None:
    """Take away lists that are there again, word for word and link for link."""
    seen: dict[tuple[str, ...], list[Element]] = {}
    for element in body.iter("ul", "ol"):
        links = list(islice(element.iter("a"), MOST_LINKS + 1))
        if not FEWEST_LINKS <= len(links) <= MOST_LINKS:
            continue
        if next(element.iterancestors("table"), None) is not None:
            continue
        text = _text(element)
        if sum(len(_text(each)) for each in links) >= LINKED * len(text) > 0:
            addresses = (each.get("href") or "" for each in links)
            seen.setdefault((text, *addresses), []).append(element)
    for alike in seen.values():
        for element in alike if len(alike) > 1 else ():
            remove(element)


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
