"""What goes unread for what it is called, unless it is named after its matter."""

import re
from itertools import chain, islice

from lxml.etree import _Element as Element

from archiver.html.reader.answered import is_answered
from archiver.html.reader.names import (
    HEADINGS,
    SENTENCE,
    UNLIKELY_ROLES,
    is_beside,
    is_heading_beside,
    is_unlikely,
    named,
)

_WORDS = re.compile(r"[^\W_]+")
_TOPICS = frozenset("header headers footer footers banner menu menus legends popup extra".split())
"""Names of parts of a page that are often what a section is about, too."""

MOST_LINKED = 0.33
"""The share of links in the text of a section that is read."""

_MOST_SIBLINGS = 50
_ANSWERS = re.compile(r"comment|disqus|repl(?:y|ies)|respon[ds]|sponsor|shoutbox", re.IGNORECASE)
"""Names of what readers or advertisers say, whatever heads it."""

_HELD = ("h2", "h3", "h4", "h5", "h6", "figure", "pre")
_READ = frozenset({"p", "pre", "blockquote", "table", "dl", "figure"})


def seems_beside(element: Element, targets: frozenset[str]) -> bool:
    """Whether an element goes for its name or role.

    ``targets`` is where links within the page lead.
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
    return not (_is_named_after_its_matter(element, targets) or is_answered(element))


def _is_named_after_its_matter(element: Element, targets: frozenset[str]) -> bool:
    """Whether an id says what a section is about, not what part of a page it is.

    It has several words, with one that names parts of pages: of a section on long headers, say.
    Its heading has most of these words, or the page leads to it (headers of pages have an ``h1``),
    or it is around code or a figure with a caption.
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
    """Whether a section's id is its heading, as generators name sections: of legends, of menus.

    It has prose, and so has another section of the page, beside or around it, its heading for id.
    """
    name = element.get("id")
    if not name or _ANSWERS.search(name) or is_beside(element.get("class")):
        return False
    if not _says_its_id(element) or not _is_prose(element):
        return False
    around = islice(element.iterancestors(element.tag), 2)
    beside = chain(
        islice(element.itersiblings(preceding=True), _MOST_SIBLINGS),
        islice(element.itersiblings(), _MOST_SIBLINGS),
    )
    others = (each for each in chain(around, beside) if each.tag == element.tag)
    return any(not is_beside(each.get("id")) and _says_its_id(each) for each in others)


def _says_its_id(section: Element) -> bool:
    """Whether a section begins with a heading that is its id, but for signs."""
    heading = next(section.iter(*HEADINGS), None)
    if heading is None or len(section) == 0 or heading not in {section[0], *section[0][:1]}:
        return False
    name = "".join(_WORDS.findall(section.get("id") or "")).casefold()
    return bool(name) and name == "".join(_WORDS.findall("".join(heading.itertext()))).casefold()


def _is_prose(section: Element) -> bool:
    """Whether there is a paragraph to read in it, and most of what it says is no link."""
    text = len("".join(section.itertext()))
    linked = sum(len("".join(each.itertext())) for each in section.iter("a"))
    longest = max((len("".join(each.itertext())) for each in section.iter("p")), default=0)
    return longest > SENTENCE and linked < MOST_LINKED * text


def _is_only_called_header(heading: Element) -> bool:
    """Whether nothing but that word speaks against a heading: of a page it is a header within."""
    is_of_page = heading.tag == "h1" or heading.getparent().tag == "header"
    names = (heading.get("class"), heading.get("id"))
    return not is_of_page and not any(map(is_heading_beside, names))


def _heads_prose(heading: Element) -> bool:
    """Whether a heading, whose id is often its own words, stands before something to read."""
    behind = heading.getnext()
    if is_beside(heading.get("class")):
        return False
    if behind is None or behind.tag not in _READ or is_beside(named(behind)):
        return False
    return heading.tag == "h1" or len("".join(behind.itertext()).strip()) > SENTENCE


def targets_in(body: Element) -> frozenset[str]:
    """Where links within a page lead."""
    links = (each.get("href") or "" for each in body.iter("a"))
    return frozenset(each[1:] for each in links if each.startswith("#"))
