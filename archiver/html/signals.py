"""What a page tells without its scripts: that it is empty, or that a wall stands in its place.

Each sign alone is found in many whole pages; that there is hardly a word to read, and scripts are
there, counts only together with another. What is learned of walls is in ``walls``.
"""

import re
from collections.abc import Iterator
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

LEAST_CHARACTERS: Final = 200
"""A page with as many to read is one, whatever its scripts would add."""
MOST_COUNTED: Final = 600
_PLACEHOLDER = 40
"""Characters of ``Loading…`` and its like."""
_NEXT_TO_NOTHING = 16
_LEAST_MARKUP = 100
"""So many characters of source to one that is read are those of a program, not of a page."""
_LONG_SOURCE = 10_000

_UNREAD = frozenset(
    "script style noscript template head title svg math canvas object audio video iframe select "
    "textarea datalist".split()
)
_SEEN = "img, picture, svg, canvas, video, audio, iframe, frame, object, embed, form, input"
_ROOTS = frozenset(
    "root app __next __nuxt ___gatsby app-root main-app react-root react-app vue-app q-app svelte "
    "ember-app application app-container app-mount mount redoc redoc-container "
    "swagger-ui spa docs-app elm mountnode reactroot app-main appmountpoint".split()
)
_HTML_ELEMENTS = frozenset(
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink "
    "blockquote body br button canvas caption center cite code col colgroup data datalist dd del "
    "details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame "
    "frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins kbd label "
    "legend li link main map mark marquee math menu meta meter nav nobr noembed noframes noscript "
    "object ol optgroup option output p param picture plaintext pre progress q rp rt ruby s samp "
    "script search section select slot small source span strike strong style sub summary sup svg "
    "table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr "
    "xmp".split()
)
_ASKS_FOR_SCRIPTS = re.compile(r"java\s?script|ecmascript|\bscripts?\b", re.IGNORECASE)
_DATA = re.compile(
    r"json|text/(?:template|html|x-)|x-handlebars|importmap|speculation", re.IGNORECASE
)


def needs_browser(tree: LexborHTMLParser, source_length: int, read: int) -> bool:
    """Whether a page is empty until its scripts have run.

    Args:
        tree: of the page.
        source_length: characters of its source.
        read: characters of it that can be read, as ``readable_characters`` counts them.
    """
    if read >= LEAST_CHARACTERS or tree.body is None or not _has_scripts(tree):
        return False
    return (
        _has_empty_root(tree)
        or _asks_for_scripts(tree)
        or (source_length > _LONG_SOURCE and read * _LEAST_MARKUP < source_length)
        or (read < _NEXT_TO_NOTHING and tree.css_first(_SEEN) is None)
    )


def readable_characters(tree: LexborHTMLParser) -> int:
    """How many characters a person would read, up to ``MOST_COUNTED``; spaces do not count."""
    return len(readable_start(tree))


def readable_start(tree: LexborHTMLParser) -> str:
    """The first ``MOST_COUNTED`` characters that a person would read, without spaces."""
    return _start_of(tree.body, MOST_COUNTED) if tree.body else ""


def _start_of(root: LexborNode, most: int) -> str:
    found, length = [], 0
    for piece in _texts(root):
        found.append(piece)
        length += len(piece)
        if length >= most:
            break
    return "".join(found)[:most]


def _texts(root: LexborNode) -> Iterator[str]:
    """The pieces of text beneath an element that are shown, without spaces."""
    node: LexborNode | None = root.child
    while node is not None:
        if node.is_text_node:
            if text := "".join((node.text_content or "").split()):
                yield text
        elif node.is_element_node and not _is_unread(node) and node.child is not None:
            node = node.child
            continue
        node = _following(node, root)


def _following(node: LexborNode, root: LexborNode) -> LexborNode | None:
    """The next node behind all that is beneath this one."""
    while node.next is None:
        if node.parent is None or node.parent.mem_id == root.mem_id:
            return None
        node = node.parent
    return node.next


def _is_unread(node: LexborNode) -> bool:
    if node.tag in _UNREAD:
        return True
    attributes = node.attributes
    style = (attributes.get("style") or "").replace(" ", "").lower()
    return "hidden" in attributes or "display:none" in style


def _has_scripts(tree: LexborHTMLParser) -> bool:
    return any(not _DATA.search(node.attributes.get("type") or "") for node in tree.css("script"))


def _has_empty_root(tree: LexborHTMLParser) -> bool:
    """Whether an element that applications are built into stands there with nothing in it."""
    named = (node for node in tree.css("body [id]") if _is_named_root(node))
    made_up = (node for node in tree.css("body > *, body > div > *") if _is_made_up(node))
    return any(
        len(_start_of(node, _PLACEHOLDER)) < _PLACEHOLDER
        for each in (named, made_up)
        for node in each
    )


def _is_named_root(node: LexborNode) -> bool:
    return (node.attributes.get("id") or "").lower() in _ROOTS


def _is_made_up(node: LexborNode) -> bool:
    """Whether an element is one that only scripts know."""
    return node.is_element_node and (node.tag or "div") not in _HTML_ELEMENTS


def _asks_for_scripts(tree: LexborHTMLParser) -> bool:
    return any(
        _ASKS_FOR_SCRIPTS.search(node.text(deep=True) or "") for node in tree.css("noscript")
    )
