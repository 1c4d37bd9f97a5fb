"""Elements: their content models, and the meaning of their class and id names.

The patterns for class and id names come from Arc90's Readability and programs derived from it.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from lxml.etree import _Element as Element

from archiver.pages.article.tree import text_in

HEADINGS: Final = frozenset("h1 h2 h3 h4 h5 h6".split())
SECTIONING: Final = frozenset("article aside nav section".split())
FLOW: Final = HEADINGS | frozenset(
    "address article aside blockquote details div dl figure footer header hr main ol p pre section "
    "table ul".split()
)
"""Flow content that is not allowed in a line of text."""

PARTS: Final = frozenset(
    "caption col colgroup dd dt figcaption li summary tbody td tfoot th thead tr".split()
)
"""Elements that are allowed only in one kind of parent."""

LINES: Final = HEADINGS | {"pre", "summary"}
"""Elements that may contain only phrasing content.

Unlike a ``p``, they do not become a ``div`` if they contain blocks.
"""

EMPHASIS: Final = frozenset(
    "abbr b bdi bdo cite code del dfn em i ins kbd mark q rt ruby s samp small span strong sub sup "
    "time u var".split()
)
"""Phrasing elements that contain phrasing content."""

UNHEADED: Final = frozenset({"address", "th"})
"""Elements that, like ``dt``, may not contain headings, sections, headers or footers."""

OUTLINED: Final = HEADINGS | SECTIONING | {"header", "footer", "address"}
ROWS: Final = frozenset({"table", "tbody", "thead", "tfoot"})
PARENTS: Final = {
    "caption": frozenset({"table"}),
    "colgroup": frozenset({"table"}),
    "col": frozenset({"colgroup", "table"}),
    **dict.fromkeys(("tbody", "thead", "tfoot"), frozenset({"table"})),
    "tr": ROWS,
    **dict.fromkeys(("td", "th"), frozenset({"tr"})),
    "summary": frozenset({"details"}),
    **dict.fromkeys(("rt", "rp"), frozenset({"ruby"})),
    "source": frozenset({"picture", "video", "audio"}),
}
"""Required parents of elements. List items and ``figcaption`` are handled separately."""

_UNLIKELY: Final = re.compile(
    r"-ad-|ai2html|banner|breadcrumbs|combx|comment|community|cookie-?(?:notice|law|consent|bar|banner|info)|cover-wrap|disqus|extra|footer|gdpr"
    r"|header|legends|menu|newsletter|recommended|related|remark|replies|rss|shoutbox|sidebar|skyscraper|social|sponsor"
    r"|supplemental|ad-break|agegate|pagination|pager|popup|yom-remote"
)
"""Lower-case names that suggest content outside of the article."""

_PERHAPS: Final = re.compile(
    r"and|article|body|column|content|main|mathjax|shadow|footnote|endnote"
)
"""Names that outweigh the unlikely ones."""

_POSITIVE: Final = re.compile(
    r"article|body|content|entry|hentry|h-entry|main|page|pagination|post|text|blog|story"
)
_NEGATIVE: Final = re.compile(
    r"-ad-|hid(?:den|(?<![^ ]hid)(?![^ ]))|banner|combx|comment|com-|contact|footer|gdpr|masthead"
    r"|media|meta|outbrain|promo|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping"
    r"|tags|widget"
)
_NOTE: Final = re.compile(
    r"footnote|endnote|sidenote|marginnote|margin-note|admonition|callout|doc-|pullquote"
    r"|column-margin|caption",
    re.IGNORECASE,
)
"""Names of notes by the author, which also occur in ``aside`` and ``footer``."""

WEIGHT: Final = 25
SENTENCE: Final = 80
"""Minimum characters of a text that counts as a sentence."""

UNLIKELY_ROLES: Final = frozenset(
    "menu menubar complementary navigation alert alertdialog dialog".split()
)

SCORED: Final = frozenset("section h2 h3 h4 h5 h6 p td pre".split())
BLOCKS: Final = frozenset("blockquote dl div img ol p pre table ul".split())
"""A ``div`` without any of these is a paragraph."""

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


_BOILERPLATE, _CONTENT = 1, 2
_MAX_KNOWN = 200
"""Maximum length of class and id names whose test results are cached; pages repeat short names."""


def is_unlikely(element: Element) -> bool:
    """Return whether the class or id of an element suggests boilerplate.

    The result is false if one of them also suggests content.
    """
    verdict = 0
    for name in (element.get("class"), element.get("id")):
        if name:
            verdict |= _verdict(name)
    return verdict == _BOILERPLATE


def is_boilerplate_name(name: str | None) -> bool:
    """Return whether a name suggests boilerplate, even if it also suggests content."""
    return bool(name and _verdict(name) & _BOILERPLATE)


def _verdict(name: str) -> int:
    return _known_verdict(name) if len(name) <= _MAX_KNOWN else _judge(name)


def _judge(name: str) -> int:
    lowered = name.lower()
    beside = _BOILERPLATE if _UNLIKELY.search(lowered) else 0
    return beside | (_CONTENT if _PERHAPS.search(lowered) else 0)


_known_verdict = lru_cache(maxsize=4096)(_judge)


def named(element: Element) -> str:
    """Return the classes and the id of an element."""
    return f"{element.get('class') or ''} {element.get('id') or ''}"


def class_weight(element: Element) -> int:
    """Return the weight of class and id: positive for content, negative for boilerplate."""
    names = (element.get("class"), element.get("id"))
    return sum(
        WEIGHT * (_has_positive_name(lowered) - _has_negative_name(lowered))
        for lowered in (name.lower() for name in names if name)
    )


def remembered(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    """Return a function that tests whether a name contains a match of a pattern, with a cache."""

    def has(name: str) -> bool:
        return pattern.search(name) is not None

    cached = lru_cache(maxsize=4096)(has)
    return lambda name: cached(name) if len(name) <= _MAX_KNOWN else has(name)


is_note: Final = remembered(_NOTE)
_has_positive_name: Final = remembered(_POSITIVE)
_has_negative_name: Final = remembered(_NEGATIVE)

_WORDS = re.compile(r"[^\W_]+")
MAX_LINKED = 0.33
"""Maximum link density of a section with prose."""

_MAX_SIBLINGS = 50
_COMMENTS = re.compile(r"comment|disqus|repl(?:y|ies)|respon[ds]|sponsor|shoutbox", re.IGNORECASE)
"""Names of comments and advertisements, which are boilerplate with any heading."""


def is_likely_boilerplate(element: Element) -> bool:
    """Return whether an element should be removed because of its class, id or role."""
    if element.get("role") in UNLIKELY_ROLES:
        return True
    if element.tag in {"a", "body"}:
        return False
    if element.tag in HEADINGS:
        # The id of a heading often repeats its words, and its class may be "header".
        return is_boilerplate_name((element.get("class") or "").lower().replace("header", ""))
    return is_unlikely(element) and not is_named_by_its_heading(element)


def is_named_by_its_heading(element: Element) -> bool:
    """Return whether a section's id repeats its heading, as documentation generators write them.

    The section must contain prose. Another section near it must also have an id that repeats the
    heading of that section.
    """
    name = element.get("id")
    if not name or _COMMENTS.search(name) or is_boilerplate_name(element.get("class")):
        return False
    if not _matches_its_id(element) or not _is_prose(element):
        return False
    around = islice(element.iterancestors(element.tag), 2)
    beside = chain(
        islice(element.itersiblings(preceding=True), _MAX_SIBLINGS),
        islice(element.itersiblings(), _MAX_SIBLINGS),
    )
    siblings = (each for each in chain(around, beside) if each.tag == element.tag)
    return any(
        not is_boilerplate_name(each.get("id")) and _matches_its_id(each) for each in siblings
    )


def _matches_its_id(section: Element) -> bool:
    """Return whether a section begins with a heading that equals its id, ignoring punctuation."""
    heading = next(section.iter(*HEADINGS), None)
    if heading is None or len(section) == 0 or heading not in {section[0], *section[0][:1]}:
        return False
    name = "".join(_WORDS.findall(section.get("id") or "")).casefold()
    return bool(name) and name == "".join(_WORDS.findall(text_in(heading))).casefold()


def _is_prose(section: Element) -> bool:
    """Return whether a section contains a long paragraph, and mostly text outside of links."""
    text = len(text_in(section))
    linked = sum(len(text_in(each)) for each in section.iter("a"))
    longest = max((len(text_in(each)) for each in section.iter("p")), default=0)
    return longest > SENTENCE and linked < MAX_LINKED * text
