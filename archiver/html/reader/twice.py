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
    linking: dict[tuple[str, ...], list[Element]] = {}
    for element in body.iter("ul", "ol"):
        links = list(islice(element.iter("a"), MOST_LINKS + 1))
        if FEWEST_LINKS <= len(links) <= MOST_LINKS:
            addresses = tuple(each.get("href") or "" for each in links)
            linking.setdefault(addresses, []).append(element)
    for alike in linking.values():
        if len(alike) > 1:
            _drop_alike(alike)


def _drop_alike(lists: list[Element]) -> None:
    """Of lists whose links lead to the same, take those away that say the same, too."""
    saying: dict[str, list[Element]] = {}
    for element in lists:
        text = _text(element)
        is_linked = sum(len(_text(each)) for each in element.iter("a")) >= LINKED * len(text) > 0
        if is_linked and next(element.iterancestors("table"), None) is None:
            saying.setdefault(text, []).append(element)
    for alike in saying.values():
        for element in alike if len(alike) > 1 else ():
            remove(element)


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
