"""Elements: their content models, and the meaning of their class and id names.

The words for class and id names are those of Arc90's readability and its descendants.

Comments follow the text they refer to. In a thread of similar posts, a question precedes its answer
in the same post.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from lxml.etree import _Element as Element

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
"""Elements that contain phrasing content only and cannot be replaced."""

EMPHASIS: Final = frozenset(
    "abbr b bdi bdo cite code del dfn em i ins kbd mark q rt ruby s samp small span strong sub sup "
    "time u var".split()
)
"""Phrasing elements that contain phrasing content."""

UNHEADED: Final = frozenset({"address", "th"})
"""Elements that may not contain headings, sections, headers or footers; nor may ``dt``."""

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
"""Required parents of elements other than list items and captions."""

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
_RESULTS: Final = re.compile(r"(?:^|\s)search-results?(?:$|\s)", re.IGNORECASE)
_NOTE: Final = re.compile(
    r"footnote|endnote|sidenote|marginnote|margin-note|admonition|callout|doc-|pullquote"
    r"|column-margin|caption",
    re.IGNORECASE,
)
"""Names of notes by the author, which also occur in ``aside`` and ``footer``."""

WEIGHT: Final = 25
SENTENCE: Final = 80
"""Characters of a text that is a sentence and can stand alone."""

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


_BESIDE, _MATTER = 1, 2
_MAX_KNOWN = 200
"""Maximum length of a cached name; pages repeat short ones."""


def is_unlikely(element: Element) -> bool:
    """Return whether an element's name suggests boilerplate, and none suggests content."""
    verdict = _verdict(element.get("class")) | _verdict(element.get("id"))
    return verdict == _BESIDE


def is_beside(name: str | None) -> bool:
    """Return whether a name suggests boilerplate, even if it also suggests content."""
    return bool(_verdict(name) & _BESIDE)


def is_boilerplate_heading(name: str | None) -> bool:
    """Do the same for a heading, which may be named a header."""
    return is_beside(name.lower().replace("header", "") if name else None)


def _verdict(name: str | None) -> int:
    if not name:
        return 0
    return _known_verdict(name) if len(name) <= _MAX_KNOWN else _judge(name)


def _judge(name: str) -> int:
    lowered = name.lower()
    beside = _BESIDE if _UNLIKELY.search(lowered) else 0
    return beside | (_MATTER if _PERHAPS.search(lowered) else 0)


_known_verdict = lru_cache(maxsize=4096)(_judge)


def named(element: Element) -> str:
    """Return the classes and the id of an element."""
    return f"{element.get('class') or ''} {element.get('id') or ''}"


def weigh(element: Element) -> int:
    """Return the weight of an element's class and id: positive for content, negative against it."""
    names = (element.get("class"), element.get("id"))
    return sum(
        WEIGHT * (_speaks_for(lowered) - _speaks_against(lowered))
        for lowered in (name.lower() for name in names if name)
    )


def remembered(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    """Return a cached test whether a name matches a pattern."""

    def has(name: str) -> bool:
        return pattern.search(name) is not None

    known = lru_cache(maxsize=4096)(has)
    return lambda name: known(name) if len(name) <= _MAX_KNOWN else has(name)


is_note: Final = remembered(_NOTE)
is_result: Final = remembered(_RESULTS)
_speaks_for: Final = remembered(_POSITIVE)
_speaks_against: Final = remembered(_NEGATIVE)

FEWEST_POSTS = 3
MAX_LOOKED_AT = 50
"""Siblings examined in each direction."""
_QUOTING = ("blockquote", "p")


def precedes_answer(element: Element) -> bool:
    """Return whether an element precedes its answer in a thread of similar posts."""
    asked = element
    while (post := asked.getparent()) is not None and _is_comment(post):
        asked = post
    if post is None or not _is_comment(asked) or next(asked.iter(*_QUOTING), None) is None:
        return False
    behind = islice(asked.itersiblings(), MAX_LOOKED_AT)
    if not any(next(each.iter("p"), None) is not None and _is_likely(each) for each in behind):
        return False
    return any(_is_one_of_several(each) for each in (post, post.getparent()) if each is not None)


def _is_comment(element: Element) -> bool:
    return "comment" in named(element).lower()


def _is_likely(element: Element) -> bool:
    return not is_beside(named(element))


def _is_one_of_several(element: Element) -> bool:
    name = element.get("class")
    before = islice(element.itersiblings(preceding=True), MAX_LOOKED_AT)
    beside = chain(before, islice(element.itersiblings(), MAX_LOOKED_AT))
    alike = sum(each.tag == element.tag and each.get("class") == name for each in beside)
    return bool(name) and alike + 1 >= FEWEST_POSTS


_WORDS = re.compile(r"[^\W_]+")
_TOPICS = frozenset("header headers footer footers banner menu menus legends popup extra".split())
"""Names of page parts that are also common subjects of sections."""

MAX_LINKED = 0.33
"""Maximum link density of a section with prose."""

_MAX_SIBLINGS = 50
_ANSWERS = re.compile(r"comment|disqus|repl(?:y|ies)|respon[ds]|sponsor|shoutbox", re.IGNORECASE)
"""Names of comments or advertisements, regardless of a heading."""

_HELD = ("h2", "h3", "h4", "h5", "h6", "figure", "pre")
_READ = frozenset({"p", "pre", "blockquote", "table", "dl", "figure"})


def is_likely_boilerplate(element: Element, targets: frozenset[str]) -> bool:
    """Return whether an element is to be removed because of its name or role.

    ``targets`` are the targets of links within the page.
    """
    role = element.get("role")
    if role in UNLIKELY_ROLES:
        return True
    if element.tag in {"a", "body"}:
        return False
    if not is_unlikely(element):
        return False
    if is_named_by_its_heading(element):
        return False
    if element.tag in HEADINGS and (_is_only_called_header(element) or _heads_prose(element)):
        return False
    return not (_is_named_after_its_subject(element, targets) or precedes_answer(element))


def _is_named_after_its_subject(element: Element, targets: frozenset[str]) -> bool:
    """Return whether an id names the subject of a section rather than a part of the page.

    It has several words, one of which names page parts, as in a section on long headers. Also its
    heading shares most of these words, or the page links to it (page headers contain an ``h1``), or
    it contains code or a figure with a caption.
    """
    name = element.get("id") or ""
    words = _WORDS.findall(name.lower())
    if len(words) < 2 or _TOPICS.isdisjoint(words) or is_beside(element.get("class")):
        return False
    held = next(element.iter(*_HELD), None)
    if held is None:
        return False
    if held.tag == "pre" or (held.tag == "figure" and held.find(".//figcaption") is not None):
        return True
    text = "".join(held.itertext()).lower() if held.tag in HEADINGS else ""
    return name in targets or 2 * sum(each in text for each in words) > len(words)


def is_named_by_its_heading(element: Element) -> bool:
    """Return whether a section's id is its heading, as documentation generators write them.

    It contains prose, and another section of the page does too and has its heading as id.
    """
    name = element.get("id")
    if not name or _ANSWERS.search(name) or is_beside(element.get("class")):
        return False
    if not _matches_its_id(element) or not _is_prose(element):
        return False
    around = islice(element.iterancestors(element.tag), 2)
    beside = chain(
        islice(element.itersiblings(preceding=True), _MAX_SIBLINGS),
        islice(element.itersiblings(), _MAX_SIBLINGS),
    )
    others = (each for each in chain(around, beside) if each.tag == element.tag)
    return any(not is_beside(each.get("id")) and _matches_its_id(each) for each in others)


def _matches_its_id(section: Element) -> bool:
    """Return whether a section begins with a heading that equals its id, ignoring punctuation."""
    heading = next(section.iter(*HEADINGS), None)
    if heading is None or len(section) == 0 or heading not in {section[0], *section[0][:1]}:
        return False
    name = "".join(_WORDS.findall(section.get("id") or "")).casefold()
    return bool(name) and name == "".join(_WORDS.findall("".join(heading.itertext()))).casefold()


def _is_prose(section: Element) -> bool:
    """Return whether it contains a paragraph and mostly text outside of links."""
    text = len("".join(section.itertext()))
    linked = sum(len("".join(each.itertext())) for each in section.iter("a"))
    longest = max((len("".join(each.itertext())) for each in section.iter("p")), default=0)
    return longest > SENTENCE and linked < MAX_LINKED * text


def _is_only_called_header(heading: Element) -> bool:
    """Return whether only the word "header" speaks against a heading inside the content."""
    is_of_page = heading.tag == "h1" or heading.getparent().tag == "header"
    names = (heading.get("class"), heading.get("id"))
    return not is_of_page and not any(map(is_boilerplate_heading, names))


def _heads_prose(heading: Element) -> bool:
    """Return whether a heading, whose id often repeats its words, is followed by prose."""
    behind = heading.getnext()
    if is_beside(heading.get("class")):
        return False
    if behind is None or behind.tag not in _READ or is_beside(named(behind)):
        return False
    return heading.tag == "h1" or len("".join(behind.itertext()).strip()) > SENTENCE


def targets_in(body: Element) -> frozenset[str]:
    """Return the targets of links within a page."""
    links = (each.get("href") or "" for each in body.iter("a"))
    return frozenset(each[1:] for each in links if each.startswith("#"))


PERMALINK: Final = "permalink"
