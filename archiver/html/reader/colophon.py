"""Takes the line away that says whose a site is, where an article ends with it."""

import re
from itertools import islice

from lxml.etree import _Element as Element

from archiver.html.reader.names import KEPT_EMPTY
from archiver.html.reader.tree import first_text, remove

LONGEST = 300
"""Characters of such a line."""
_MOST_LOOKED_AT = 40
_LINES = ("p", "div", "small", "footer", "section", "address")
_OF_SITE = re.compile(
    r"\W{0,5}(?:\u00a9|\(c\)|copyright\b).{0,60}?\b(?:19|20)\d\d\b", re.IGNORECASE
)


def drop_colophon(root: Element) -> None:
    """Take the last line of an article away if it begins with a copyright and a year."""
    for line in islice(reversed(list(root.iter(*_LINES))), _MOST_LOOKED_AT):
        text = first_text(line, LONGEST + 1)
        if not text or next(line.iterdescendants(*_LINES), None) is not None:
            continue
        is_line = len(text) <= LONGEST and next(line.iter(*KEPT_EMPTY), None) is None
        if is_line and _OF_SITE.match(text) and _is_last(line, root):
            remove(line)
        return


def _is_last(line: Element, root: Element) -> bool:
    """Whether nothing is said behind a line."""
    at = line
    while at is not root:
        if (at.tail or "").strip() or any(first_text(each, 1) for each in at.itersiblings()):
            return False
        at = at.getparent()
    return True
