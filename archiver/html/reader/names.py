"""What elements are called, and what that says of them.

The words in classes and ids are those the field goes by: Arc90's readability and its descendants.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from lxml.etree import _Element as Element

_UNLIKELY: Final = re.compile(
    r"-ad-|ai2html|banner|breadcrumbs|combx|comment|community|cookie-?(?:notice|law|consent|bar|banner|info)|cover-wrap|disqus|extra|footer|gdpr"
    r"|header|legends|menu|newsletter|recommended|related|remark|replies|rss|shoutbox|sidebar|skyscraper|social|sponsor"
    r"|supplemental|ad-break|agegate|pagination|pager|popup|yom-remote"
)
"""Such a name, in lower case, speaks for something beside the matter."""

_PERHAPS: Final = re.compile(
    r"and|article|body|column|content|main|mathjax|shadow|footnote|endnote"
)
"""Unless there is one of these, too."""

_POSITIVE: Final = re.compile(
    r"article|body|content|entry|hentry|h-entry|main|page|pagination|post|text|blog|story"
)
_NEGATIVE: Final = re.compile(
    r"-ad-|hid(?:den|(?<![^ ]hid)(?![^ ]))|banner|combx|comment|com-|contact|footer|gdpr|masthead"
    r"|media|meta|outbrain|promo|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping"
    r"|tags|widget"
)
_SHARE: Final = re.compile(r"(?:\b|_)(?:share|sharedaddy)(?:\b|_)", re.IGNORECASE)
_RESULTS: Final = re.compile(r"(?:^|\s)search-results?(?:$|\s)", re.IGNORECASE)
_NOTE: Final = re.compile(
    r"footnote|endnote|sidenote|marginnote|margin-note|admonition|callout|doc-|pullquote"
    r"|column-margin|caption",
    re.IGNORECASE,
)
"""Notes of the author stand in ``aside`` and ``footer``, too."""

WEIGHT: Final = 25
SENTENCE: Final = 80
"""So many characters say something, and can stand alone."""

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


_BESIDE, _MATTER = 1, 2
_LONGEST_KNOWN = 200
"""Characters of a name that is remembered: pages repeat the short ones."""


def is_unlikely(element: Element) -> bool:
    """Whether a name of an element speaks for something beside the matter, none for the matter."""
    verdict = _verdict(element.get("class")) | _verdict(element.get("id"))
    return verdict == _BESIDE


def is_beside(name: str | None) -> bool:
    """Whether a name speaks for something beside the matter, whatever else it speaks for."""
    return bool(_verdict(name) & _BESIDE)


def is_heading_beside(name: str | None) -> bool:
    """The same of a heading, which may well be called a header."""
    return is_beside(name.lower().replace("header", "") if name else None)


def _verdict(name: str | None) -> int:
    if not name:
        return 0
    return _known_verdict(name) if len(name) <= _LONGEST_KNOWN else _judge(name)


def _judge(name: str) -> int:
    lowered = name.lower()
    beside = _BESIDE if _UNLIKELY.search(lowered) else 0
    return beside | (_MATTER if _PERHAPS.search(lowered) else 0)


_known_verdict = lru_cache(maxsize=4096)(_judge)


def named(element: Element) -> str:
    """The classes and the id of an element."""
    return f"{element.get('class') or ''} {element.get('id') or ''}"


def weigh(element: Element) -> int:
    """What its class and its id say of an element: above zero for the matter, below against it."""
    names = (element.get("class"), element.get("id"))
    return sum(
        WEIGHT * (_speaks_for(lowered) - _speaks_against(lowered))
        for lowered in (name.lower() for name in names if name)
    )


def remembered(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    """Whether there is a pattern in a name: of short ones, which pages repeat, it is known."""

    def has(name: str) -> bool:
        return pattern.search(name) is not None

    known = lru_cache(maxsize=4096)(has)
    return lambda name: known(name) if len(name) <= _LONGEST_KNOWN else has(name)


is_note: Final = remembered(_NOTE)
is_share: Final = remembered(_SHARE)
is_result: Final = remembered(_RESULTS)
_speaks_for: Final = remembered(_POSITIVE)
_speaks_against: Final = remembered(_NEGATIVE)
