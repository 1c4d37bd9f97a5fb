"""Removal of blocks around an article: related pages, share bars, newsletter forms, author boxes.

A block is removed if two conditions are met:

- A label in front of the block, or its class and id, names a kind of block. ``labels.toml`` lists
  the labels in several languages, and the names.
- The content of the block is typical of that kind.

Labels of advertisements and similar notices are removed without the second condition.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from lxml.etree import _Element as Element

from archiver.pages.article.elements import (
    FORM_CONTROLS,
    HEADINGS,
    named,
)
from archiver.pages.article.scoring import leads_to_picture, text_length, weight_of_link
from archiver.pages.article.tree import bare, first_text, remove, text_in

MAX_LABEL: Final = 60


class Kind(StrEnum):
    """Kind of a block around an article."""

    RELATED = "related"
    COMMENTS = "comments"
    AUTHOR = "author"
    NEWSLETTER = "newsletter"
    SHARE = "share"
    TAGS = "tags"
    NOTICE = "notice"
    ACTION = "action"


_LABEL_DATA: Final = tomllib.loads(files(__package__).joinpath("labels.toml").read_text("utf-8"))
_LABEL = re.compile(r"[^\W\d_](?:.*[^\W\d_])?", re.DOTALL)
"""Pattern for the part of a text from its first to its last letter."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAX_NAME = 200

_FULL_LABELS: Final = {
    phrase: kind
    for kind in reversed(Kind)
    for phrase in _LABEL_DATA[kind]["labels"]
    if phrase[-1] != "*"
}
_LABEL_STARTS: Final[defaultdict[str, list[tuple[str, Kind]]]] = defaultdict(list)
"""Beginnings of labels and their kinds, by their first two characters."""

for _kind in Kind:
    for _phrase in _LABEL_DATA[_kind]["labels"]:
        if _phrase[-1] == "*":
            _LABEL_STARTS[_phrase[:-1][:2]].append((_phrase[:-1], _kind))


def _compile_kind_names() -> re.Pattern[str]:
    kinds = (
        f"(?P<{kind}>{'|'.join(_LABEL_DATA[kind]['names']).replace('*', '[a-z]*')})"
        for kind in Kind
        if _LABEL_DATA[kind]["names"]
    )
    return re.compile(rf"(?:^|[\s_-])(?:{'|'.join(kinds)})(?:$|[\s_-])")


_KIND_NAMES: Final = _compile_kind_names()


@lru_cache(maxsize=4096)
def kind_of_label(text: str) -> Kind | None:
    """Return the kind of block that a label announces; None for other texts."""
    match = _LABEL.search(text)
    label = match[0].lower().replace("\u2019", "'") if match else ""
    if not label or len(label) > MAX_LABEL:
        return None
    if label in _FULL_LABELS:
        return _FULL_LABELS[label]
    starts = _LABEL_STARTS.get(label[:2], ())
    return next((kind for start, kind in starts if label.startswith(start)), None)


def kind_of_name(name: str) -> Kind | None:
    """Return the kind of block that a class and id suggest, if any."""
    return _known_kind(name) if 1 < len(name) <= _MAX_NAME else None


@lru_cache(maxsize=4096)
def _known_kind(name: str) -> Kind | None:
    match = _KIND_NAMES.search(_CAMEL.sub("-", name).lower())
    return Kind(match.lastgroup) if match and match.lastgroup else None


MAX_TEASER = 260
"""Maximum characters of unlinked text, for each link, in a block of related pages."""

SHORTEST_HEADLINE = 10
MAX_CARD = 450
SENTENCE = 80
SHORTEST_POST = 140
"""Minimum characters of prose before comments that are removed.

A page with less prose before them may be a forum thread, whose replies are the content.
"""

LEAST_REMAINING, LEAST_SHARE = 200, 0.25
"""Minimum prose that must remain on a page from which a block of related pages is removed.

It is at least this number of characters, and this share of the block's text. A page with less prose
is a list of other pages.
"""

MIN_BEFORE_AUTHOR = 0.75
"""Minimum share of the page's prose that precedes the label of an author box."""

MAX_REMOVED, MAX_REMOVED_SHARE = 300, 0.3
"""Maximum prose of a removed block, such as an author box.

It is the greater of this number of characters and this share of the page's prose.
"""

_MAX_LENGTHS = {Kind.AUTHOR: 1000, Kind.NEWSLETTER: 700, Kind.SHARE: 300, Kind.TAGS: 400}
"""Maximum characters of a block, by kind."""

_MAX_UNLINKED = {Kind.SHARE: 100, Kind.TAGS: 60}
_MAX_NOTE = 40
FEWEST_CARDS = 3
_CARD_HOLDERS = frozenset({"div", "section", "ul"})
_MAX_LEVELS, _MAX_SIBLINGS, _MAX_LINKS = 6, 60, 100
_LABELLED = frozenset("p div span strong b em label legend dt summary a".split()) | HEADINGS
_NAMED = frozenset("div section aside ul ol p footer nav form span table li".split())
_NAMING = frozenset({"class", "id", "data-component"})
_LINES = frozenset({"p", "div", "span"})
_KEPT = ("pre", "math", "video", "audio")
_MAIN_ELEMENTS = frozenset({"article", "main", "body", "html"})
_FRAME_TAGS = ("footer", "nav", "aside", "form")
_ACTION_WORDS = re.compile(
    r"newsletter|subscri|inbox|sign[ -]?up|e-?mail|follow|abonn|anmeld|inscri|lettre|bolet|donat"
    r"|member|メール|フォロー|订阅|关注|подпис",
    re.IGNORECASE,
)
"""Words of newsletter forms and of requests to follow, sign up or donate."""

_PULL_QUOTE_NAME = re.compile(r"pull-?quote", re.IGNORECASE)
_PULL_QUOTE_NAMES = (b"pullquote", b"pull-quote")
_SHORTEST_QUOTE, MAX_QUOTE, _MAX_QUOTES = 15, 500, 30

_LABEL_ENDS = (":", "\uff1a", "\u00bb", ">")
_COMMENT_NAMES = re.compile(
    r"comment|komment|respon[ds]|disqus|repl(?:y|ies)|reaction", re.IGNORECASE
)


class Surroundings:
    """Blocks around the article of one page.

    Args:
        body: the body of the page, which is modified.
        heading: the heading with the title of the page.
        host: the host of the page; links to it are internal.
    """

    def __init__(self, body: Element, heading: Element | None, host: str) -> None:
        self._body = body
        self._host = host
        self._elements = list(body.iter())
        self._text: dict[Element, int] = {}
        self._linked: dict[Element, float] = {}
        self._prose: dict[Element, int] = {}
        self._own_prose: dict[Element, int] = {}
        self._measure()
        self._prose_left = self._prose[body]
        self._around_heading = {heading, *heading.iterancestors()} if heading is not None else set()
        self._removed: set[Element] = set()

    def drop(self) -> None:
        """Remove the blocks around the article."""
        self._drop_other_articles()
        before = 0
        for element in self._elements:
            if element in self._removed:
                continue
            tag = element.tag
            is_removed = (
                (tag in _NAMED and self._drop_named(element))
                or (tag in _LABELLED and self._drop_labelled(element, before))
                or (tag in _CARD_HOLDERS and self._drop_cards(element, before))
            )
            if not is_removed:
                before += self._own_prose.get(element, 0)

    def _measure(self) -> None:
        """Count the characters of text, of links and of prose in each element.

        Prose is text of at least ``SENTENCE`` characters outside of links, footers, navigation,
        asides and forms.
        """
        frames = {each for frame in self._body.iter(*_FRAME_TAGS) for each in frame.iter()}
        texts, links, proses = self._text, self._linked, self._prose
        for element in reversed(self._elements):
            text, linked, prose = text_length(element.text), 0.0, 0
            for child in element if len(element) else ():
                text += texts[child]
                linked += links[child]
                prose += proses[child]
                if child.tail:
                    text += text_length(child.tail)
            if element.tag == "a":
                is_thumbnail = (
                    len(element) > 0 and _has_picture(element) and leads_to_picture(element)
                )
                linked = linked if is_thumbnail else text * weight_of_link(element)
            elif not prose and text - linked >= SENTENCE and element not in frames:
                prose = self._own_prose[element] = int(text - linked)
            texts[element], links[element], proses[element] = text, linked, prose

    def _drop_other_articles(self) -> None:
        """Remove other ``<article>`` elements whose heading is an ``h1`` or a link."""
        article = next((each for each in self._around_heading if each.tag == "article"), None)
        if article is None or self._prose[article] < LEAST_REMAINING:
            return
        for each in self._body.iter("article"):
            if each in self._around_heading or article in {
                *islice(each.iterancestors(), _MAX_SIBLINGS)
            }:
                continue
            heading = next(each.iter(*HEADINGS), None)
            is_other = heading is not None and (
                heading.tag == "h1"
                or next(heading.iter("a"), None) is not None
                or next(heading.iterancestors("a"), None) is not None
            )
            if is_other and next(each.iter("article"), None) is each:
                self._remove(each)

    def _drop_named(self, element: Element) -> bool:
        names = element.keys()
        if _NAMING.isdisjoint(names):
            return False
        name = named(element)
        if "data-component" in names:
            name = f"{name} {element.get('data-component')}"
        kind = kind_of_name(name)
        return kind is not None and self._fits(kind, [element]) and self._remove(element)

    def _drop_labelled(self, element: Element, before: int) -> bool:
        """Remove the block that a label announces.

        Args:
            element: the element that may be a label.
            before: number of characters of prose before the element.
        """
        text = self._text[element]
        if not text:
            return False
        if text <= MAX_LABEL + 2:
            label = " ".join(text_in(element).split())
            kind = kind_of_label(label)
            if kind is Kind.NOTICE:
                return element.tag not in HEADINGS and self._remove(element)
            if kind is not None and kind is not Kind.ACTION:
                blocks = [*self._announced(element, kind, before)]
                for each in blocks:
                    self._remove(each)
                if blocks:
                    return True
        is_line = text <= MAX_CARD and len(element) > 0 and element.tag in _LINES
        return is_line and self._drop_line(element)

    def _drop_cards(self, element: Element, before: int) -> bool:
        """Remove a block below the text if each of its parts has a picture and a linked heading."""
        if not FEWEST_CARDS <= len(element) <= _MAX_SIBLINGS:
            return False
        beside = self._prose_left - self._prose[element]
        if before < MIN_BEFORE_AUTHOR * beside or not all(map(self._is_card, element)):
            return False
        return self._fits(Kind.RELATED, [element]) and self._remove(element)

    def _is_card(self, element: Element) -> bool:
        heading = next(element.iter(*HEADINGS), None)
        if heading is None or not 0 < self._text[heading] <= self._linked[heading]:
            return False
        return self._text[element] <= MAX_CARD and _has_picture(element)

    def _drop_line(self, element: Element) -> bool:
        """Remove a line that consists of a label and links, such as *Read also: …*."""
        lead = _lead_of(element)
        kind = kind_of_label(lead) if lead.endswith(_LABEL_ENDS) else None
        if kind not in {Kind.RELATED, Kind.TAGS, Kind.SHARE}:
            return False
        unlinked = self._text[element] - self._linked[element]
        is_line = unlinked <= len(lead) + _MAX_NOTE
        return is_line and self._fits(kind, [element]) and self._remove(element)

    def _announced(self, label: Element, kind: Kind, before: int) -> Sequence[Element]:
        """Return the block that begins with a label, or the label and the blocks after it.

        Returns nothing if the content is not of the kind that the label announces.
        """
        if kind is Kind.AUTHOR and before < MIN_BEFORE_AUTHOR * self._prose_left:
            return ()
        if kind is Kind.COMMENTS and (before < SHORTEST_POST):
            return ()
        best: Element | None = None
        top = at = label
        for above in islice(label.iterancestors(), _MAX_LEVELS):
            if (
                above.tag in _MAIN_ELEMENTS
                or above in self._around_heading
                or self._begins_before(at, above)
            ):
                break
            if self._text[above] <= self._text[label] + 2:
                top = above
            elif self._fits(kind, [above], label=label):
                best = above
            at = above
        if best is not None:
            return [best]
        following = [*self._blocks_after(top, label, kind)]
        return [top, *following] if following else ()

    def _begins_before(self, element: Element, above: Element) -> bool:
        """Return whether text precedes an element in its parent, which is ``above``."""
        if (above.text or "").strip():
            return True
        for each in islice(element.itersiblings(preceding=True), _MAX_SIBLINGS):
            has_text = each not in self._removed and self._text[each]
            if has_text or (each.tail or "").strip():
                return True
        return False

    def _blocks_after(self, top: Element, label: Element, kind: Kind) -> Iterator[Element]:
        """Yield the blocks after a label, up to the first one that is not of the label's kind."""
        level = label.tag if label.tag in HEADINGS else "h6"
        for each in islice(top.itersiblings(), _MAX_SIBLINGS):
            if each in self._removed:
                continue
            if (each.tag in HEADINGS and each.tag <= level) or each in self._around_heading:
                return
            if not self._text[each] and each.tag in {"br", "hr"}:
                if (each.tail or "").strip():
                    return
                yield each
                continue
            if not self._fits(kind, [each], label=label):
                return
            yield each

    def _fits(self, kind: Kind, blocks: list[Element], label: Element | None = None) -> bool:
        """Return whether blocks have the content that is typical of a kind."""
        text = sum(self._text[each] for each in blocks)
        unlinked = text - sum(self._linked[each] for each in blocks)
        if any(each in self._around_heading for each in blocks):
            return False
        if kind is Kind.COMMENTS:
            return any(map(_holds_comments, blocks))
        if kind is Kind.RELATED:
            return self._links_elsewhere(blocks, unlinked, label)
        prose = sum(self._prose[each] for each in blocks)
        is_long = text > _MAX_LENGTHS[kind] or unlinked > _MAX_UNLINKED.get(kind, text)
        if is_long or prose > max(MAX_REMOVED, MAX_REMOVED_SHARE * self._prose_left):
            return False
        if kind is Kind.NEWSLETTER:
            return self._asks_for_action(blocks, label)
        return text > 0 or label is None

    def _asks_for_action(self, blocks: list[Element], label: Element | None) -> bool:
        """Return whether blocks ask to subscribe, follow or pay, or contain form controls.

        The result is always true without a label.
        """
        text = " ".join(first_text(each, _MAX_LENGTHS[Kind.NEWSLETTER]) for each in blocks)
        if label is None or _ACTION_WORDS.search(text):
            return True
        return any(next(each.iter(*FORM_CONTROLS), None) is not None for each in blocks)

    def _links_elsewhere(
        self, blocks: list[Element], unlinked: float, label: Element | None
    ) -> bool:
        """Return whether blocks consist of links to other pages, with short texts."""
        if any(next(each.iter(*_KEPT), None) is not None for each in blocks):
            return False
        links = [
            link
            for each in blocks
            for link in islice(each.iter("a"), _MAX_LINKS)
            if self._is_headline(link)
        ]
        if not links:
            return label is None and unlinked <= _MAX_NOTE
        longest = sum(self._prose[each] for each in blocks)
        internal = sum(self._is_internal(each) for each in links)
        is_short = unlinked <= MAX_TEASER * len(links)
        return is_short and 2 * internal >= len(links) and self._leaves_enough(blocks, longest)

    def _leaves_enough(self, blocks: list[Element], prose: int) -> bool:
        """Return whether the page has enough prose besides these blocks to be an article."""
        remaining = self._prose_left - prose
        size = sum(self._text[each] for each in blocks)
        return remaining >= LEAST_REMAINING and remaining >= LEAST_SHARE * size

    def _is_headline(self, link: Element) -> bool:
        is_long = self._text[link] >= SHORTEST_HEADLINE or not first_text(link, 1).isascii()
        return is_long and not (link.get("href") or "#").startswith(("#", "javascript:", "mailto:"))

    def _is_internal(self, link: Element) -> bool:
        href = (link.get("href") or "").strip()
        if "//" not in href[:8]:
            return True
        try:
            host = urlsplit(href).hostname or ""
        except ValueError:
            return False
        return host.removeprefix("www.") == self._host

    def _remove(self, element: Element) -> bool:
        if (
            element in self._removed
            or element in self._around_heading
            or element.getparent() is None
        ):
            return False
        self._prose_left -= self._prose[element]
        self._removed.update(element.iter())
        remove(element)
        return True


def _has_picture(element: Element) -> bool:
    return next(element.iterdescendants("img", "svg"), None) is not None


def _holds_comments(block: Element) -> bool:
    """Return whether a block contains a form, or an element with a name such as ``comments``."""
    if next(block.iter(*FORM_CONTROLS), None) is not None:
        return True
    return any(_COMMENT_NAMES.search(named(each)) for each in islice(block.iter(), _MAX_LINKS))


def _lead_of(element: Element) -> str:
    """Return the text before the first link of an element."""
    pieces = [element.text or ""]
    for each in islice(element.iterdescendants(), 10):
        if each.tag == "a":
            return " ".join("".join(pieces).split())
        pieces.append(each.text or "")
        if not len(each):
            pieces.append(each.tail or "")
    return ""


def _drop_pull_quotes(body: Element) -> None:
    """Remove quotations that repeat a sentence of the article in large letters."""
    quotes = (each for each in body.iter() if _PULL_QUOTE_NAME.search(named(each)))
    for quote in [*islice(quotes, _MAX_QUOTES)]:
        quotation = bare(first_text(quote, MAX_QUOTE))
        if len(quotation) > _SHORTEST_QUOTE and bare(text_in(body)).count(quotation) > 1:
            remove(quote)


def drop_surroundings(body: Element, source: bytes, heading: Element | None, url: str) -> None:
    """Remove the blocks around the article of a page, and its pull quotes.

    Args:
        body: the body of the page.
        source: the markup of the whole page in lower case.
        heading: the heading with the title of the page.
        url: the URL of the page.
    """
    if any(name in source for name in _PULL_QUOTE_NAMES):
        _drop_pull_quotes(body)
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    Surroundings(body, heading, host).drop()
