"""What elements are called, and what that says of them.

The words in classes and ids are those the field goes by: Arc90's readability and its descendants.
"""

import re
from typing import Final

from lxml.etree import _Element as Element

UNLIKELY: Final = re.compile(
    r"-ad-|ai2html|banner|breadcrumbs|combx|comment|community|cookie-?(?:notice|law|consent|bar|banner|info)|cover-wrap|disqus|extra|footer|gdpr"
    r"|header|legends|menu|related|remark|replies|rss|shoutbox|sidebar|skyscraper|social|sponsor"
    r"|supplemental|ad-break|agegate|pagination|pager|popup|yom-remote",
    re.IGNORECASE,
)
"""Such a name speaks for something beside the matter."""

PERHAPS: Final = re.compile(
    r"and|article|body|column|content|main|mathjax|shadow|footnote|endnote", re.IGNORECASE
)
"""Unless there is one of these, too."""

POSITIVE: Final = re.compile(
    r"article|body|content|entry|hentry|h-entry|main|page|pagination|post|text|blog|story",
    re.IGNORECASE,
)
NEGATIVE: Final = re.compile(
    r"-ad-|hidden|^hid$| hid$| hid |^hid |banner|combx|comment|com-|contact|footer|gdpr|masthead"
    r"|media|meta|outbrain|promo|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping"
    r"|tags|widget",
    re.IGNORECASE,
)
BYLINE: Final = re.compile(r"byline|author|dateline|writtenby|p-author", re.IGNORECASE)
SHARE: Final = re.compile(r"(?:\b|_)(?:share|sharedaddy)(?:\b|_)", re.IGNORECASE)
RESULTS: Final = re.compile(r"(?:^|\s)search-results?(?:$|\s)", re.IGNORECASE)
NOTE: Final = re.compile(
    r"footnote|endnote|sidenote|marginnote|margin-note|admonition|callout|doc-|pullquote"
    r"|column-margin|caption",
    re.IGNORECASE,
)
"""Notes of the author stand in ``aside`` and ``footer``, too."""

WEIGHT: Final = 25
UNLIKELY_ROLES: Final = frozenset(
    "menu menubar complementary navigation alert alertdialog dialog".split()
)
HEADINGS: Final = frozenset("h1 h2 h3 h4 h5 h6".split())
SCORED: Final = frozenset("section h2 h3 h4 h5 h6 p td pre".split())
BLOCKS: Final = frozenset("blockquote dl div img ol p pre table ul".split())
"""A ``div`` with none of them in it is a paragraph."""

PHRASING: Final = frozenset(
    "abbr audio b bdi bdo br button cite code data datalist dfn em embed i img input kbd label "
    "mark math meter noscript object output progress q ruby s samp script select small span strong "
    "sub sup svg textarea time u var wbr font".split()
)
TRANSPARENT: Final = frozenset({"a", "del", "ins"})
TEXTISH: Final = frozenset("blockquote dl div img ol p pre table ul span li td".split())
EMBEDDED: Final = frozenset({"object", "embed", "iframe"})
FORM_CONTROLS: Final = frozenset({"input", "select", "textarea", "button"})
KEPT_EMPTY: Final = frozenset(
    "img svg math video audio iframe hr picture embed object table canvas".split()
)


def named(element: Element) -> str:
    """The classes and the id of an element."""
    return f"{element.get('class') or ''} {element.get('id') or ''}"


def weigh(element: Element) -> int:
    """What its class and its id say of an element: above zero for the matter, below against it."""
    weight = 0
    for name in (element.get("class"), element.get("id")):
        if name:
            weight -= WEIGHT if NEGATIVE.search(name) else 0
            weight += WEIGHT if POSITIVE.search(name) else 0
    return weight
