"""What a page calls the appendix of its article belongs to it, though it stands behind it."""

import re
from copy import deepcopy

from lxml.etree import _Element as Element

from archiver.html.reader.clear import Rules, clear_away
from archiver.html.reader.names import SENTENCE, UNLIKELY_ROLES, is_beside, named, remembered
from archiver.html.reader.scoring import make_root
from archiver.html.reader.tree import first_text

MOST = 5
"""Of them on one page."""
_MOST_TEXT = 2_000_000
_BEGINNING = 200
_CALLED = re.compile(
    r"(?:^|[\s_-])(?:appendix|appendices|acknowledge?ments?|afterword)(?:$|\s)", re.IGNORECASE
)
_is_appendix = remembered(_CALLED)


def bring_appendix(root: Element, body: Element) -> None:
    """Put what is called an appendix, or acknowledgements, behind an article that is without it.

    Args:
        root: of the article.
        body: of the page, with all that is in the article; it stays as it is.
    """
    called = _outermost(body)
    text = first_text(root, _MOST_TEXT) if called else ""
    for element in called:
        found = make_root((deepcopy(element),))
        clear_away(found, Rules(), {})
        if _is_prose(found) and first_text(found, _BEGINNING)[:_BEGINNING] not in text:
            found[0].tag = "div"
            root.append(found[0])


def _outermost(body: Element) -> list[Element]:
    found: list[Element] = []
    for element in body.iter():
        if _is_called(element) and not _is_within(element, found):
            found.append(element)
            if len(found) == MOST:
                break
    return found


def _is_called(element: Element) -> bool:
    role = element.get("role") or ""
    names = f"{element.tag} {named(element)} {role}"
    if not _is_appendix(names) or is_beside(named(element)):
        return False
    return role not in UNLIKELY_ROLES and element.tag not in {"a", "nav", "aside", "footer"}


def _is_within(element: Element, others: list[Element]) -> bool:
    return any(each in others for each in element.iterancestors())


def _is_prose(root: Element) -> bool:
    """Whether there is a paragraph to read in it."""
    return len(root) > 0 and any(len(first_text(p, SENTENCE)) >= SENTENCE for p in root.iter("p"))
