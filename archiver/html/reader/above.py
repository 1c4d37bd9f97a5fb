"""Takes lists of other pages away that stand above the title, where an article begins."""

from itertools import islice

from lxml.etree import _Element as Element

from archiver.html.reader.lead import title_of
from archiver.html.reader.names import HEADINGS, KEPT_EMPTY
from archiver.html.reader.tree import remove

_FEWEST_LINKS = 3
_MOST_LINKED = 0.8
"""The share of links in the text of a list of other pages, its heading besides."""

_LEAST_OF_TITLE = 0.5
"""Of the title of a page: less of it may be what one of several sections is about."""

_LONGEST = 5000
_MOST_SIBLINGS = 50


def drop_above_title(root: Element, title: str) -> None:
    """Take away what is links, and nothing else, before the heading that says the title."""
    heading = title_of(root, title)
    if heading is None or len("".join(heading.itertext()).strip()) < _LEAST_OF_TITLE * len(title):
        return
    around = [heading, *heading.iterancestors()]
    for element in around[: around.index(root)]:
        for above in list(islice(element.itersiblings(preceding=True), _MOST_SIBLINGS)):
            if _is_links(above):
                remove(above)


def _is_links(element: Element) -> bool:
    if next(element.iter(*KEPT_EMPTY - {"svg"}, "pre", "dl", "blockquote"), None) is not None:
        return False
    text = _letters(element)
    if not 0 < text <= _LONGEST:
        return False
    links = [*element.iter("a")]
    headed = sum(_letters(each) for each in element.iter(*HEADINGS))
    linked = sum(map(_letters, links))
    return len(links) >= _FEWEST_LINKS and linked >= _MOST_LINKED * (text - headed)


def _letters(element: Element) -> int:
    return len("".join("".join(element.itertext()).split()))
