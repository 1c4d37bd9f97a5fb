"""Takes the line of a site away between a title and its article: *From Example Wiki*."""

import re
from collections.abc import Iterator
from itertools import islice

from lxml.etree import _Element as Element

from archiver.html.reader.names import HEADINGS, KEPT_EMPTY, SENTENCE, named
from archiver.html.reader.paragraphs import has_block
from archiver.html.reader.tree import first_text, remove

LONGEST = 120
"""Characters of such a line."""
MOST_BESIDE = 12
"""Characters beside the name of the site: *From*, *A page of*."""
_SHORTEST_NAME = 3
_MOST_ELEMENTS = 60

_SIGNS = re.compile(r"[\W_]+")
_LINES = frozenset({"p", "div", "span", "section"}) | HEADINGS
_NOT_PRINTED = re.compile(
    r"(?:^|\s)(?:no-?print|print-?none|hidden-print|d-print-none|print:hidden)(?:$|\s)",
    re.IGNORECASE,
)
_SUBTITLE_OF_SITE = re.compile(
    r"(?:^|[\s_-])(?:site-?sub(?:title)?|tag-?line|site-?description)(?:$|\s)", re.IGNORECASE
)


def drop_tagline(root: Element, title: str, shown: str, site: str) -> None:
    """Take away a line before the first sentence that names the site and says no more.

    Args:
        root: of the article.
        title: of the page.
        shown: the whole ``title`` of the document, which often names the site, too.
        site: its name, if the page gives it elsewhere.
    """
    rest = shown.replace(title, "", 1) if title and title in shown else ""
    names = [name for name in map(_bare, (rest, site)) if len(name) >= _SHORTEST_NAME]
    for line in _lines_above(root):
        if _is_of_site(line, names):
            remove(line)
            return


def _lines_above(root: Element) -> Iterator[Element]:
    """Short lines before the first sentence."""
    for element in islice(root.iter(), _MOST_ELEMENTS):
        if element.tag not in _LINES or has_block(element):
            continue
        text = first_text(element, LONGEST)
        if len(text) > SENTENCE and element.tag not in HEADINGS:
            return
        if text and len(text) <= LONGEST and next(element.iter(*KEPT_EMPTY), None) is None:
            yield element


def _is_of_site(line: Element, names: list[str]) -> bool:
    called = named(line)
    is_of_site = _SUBTITLE_OF_SITE.search(called) is not None
    if line.tag in HEADINGS and not is_of_site:
        return False
    if is_of_site or _NOT_PRINTED.search(line.get("class") or ""):
        return True
    text = _bare(first_text(line, LONGEST))
    return any(text.endswith(name) and len(text) - len(name) <= MOST_BESIDE for name in names)


def _bare(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()
