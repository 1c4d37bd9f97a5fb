"""Text set from top to bottom: kept as the page set it, by one of two names and nothing else.

Known are the page's own ``style`` attributes and elements. What a sheet of its own file says is
not: the article is read of the page alone.
"""

import re
from collections.abc import Iterator
from typing import Final

from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser

from archiver.html.reader.tree import lengths
from archiver.html.sanitise import VERTICAL
from archiver.values import frozen

_PROPERTY: Final = "writing-mode"
_MOST_CSS, _MOST_RULES = 200_000, 5000
_MOST_LEVELS = 40
_MOST_OF = 0.5
"""The share of a page's text in what its article may stand in."""

_SAID = re.compile(
    r"(?:^|[;{\s])(?:-webkit-|-epub-|-ms-)?writing-mode\s*:\s*([a-z-]{2,20})", re.IGNORECASE
)
_OLD = {"tb-rl": "vertical-rl", "tb": "vertical-rl", "tb-lr": "vertical-lr"}
"""What Internet Explorer, and SVG 1.1, called them (CSS Writing Modes 4 §3.2)."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
"""One that is left open goes to the end (CSS Syntax 3 §4.3.2)."""
_ON_PAPER = re.compile(r"@media\s+print[^{}@]*+\{(?:[^{}]*+\{[^{}]*+\})*+[^{}]*+\}", re.IGNORECASE)
_RULE = re.compile(r"([^{};]{1,400}+)\{([^{}]*+)\}")
_SIMPLE = re.compile(r"(?P<tag>[a-z][a-z0-9]*|\*|)(?P<names>(?:[.#][\w-]+)*)", re.IGNORECASE)


@frozen
class Writing:
    """What a page says of the direction of its lines: if it does, of itself, by which selectors."""

    is_said: bool = False
    of_page: str = ""
    rules: tuple[tuple[str, str], ...] = ()


def find_writing(page: LexborHTMLParser, source: str) -> Writing:
    """What a parsed page, whose style elements are still there, says of its writing mode."""
    if _PROPERTY not in source:
        return Writing()
    css = "\n".join(each.text() or "" for each in page.css("style"))[:_MOST_CSS]
    rules = tuple(_rules(css))
    mode = ""
    for element in page.css("html, body"):
        said = element.attributes
        names = _names(said.get("class") or "", said.get("id") or "")
        mode = _mode_of(element.tag or "", names, said.get("style") or "", rules) or mode
    return Writing(is_said=True, of_page=mode, rules=rules)


def vertical_of(body: Element, writing: Writing) -> str:
    """How the article of a page is set: ``vertical-rl``, ``vertical-lr``, or empty if it is not.

    What holds most of the text of what it stands in is gone down into, and the innermost counts.
    """
    mode, sizes, element = writing.of_page, lengths(body), body
    for _ in range(_MOST_LEVELS):
        inner = max(element, key=lambda each: sizes.get(each, 0), default=None)
        if inner is None or sizes.get(inner, 0) < _MOST_OF * sizes[body]:
            break
        names = _names(inner.get("class") or "", inner.get("id") or "")
        mode = _mode_of(inner.tag, names, inner.get("style") or "", writing.rules) or mode
        element = inner
    return mode if VERTICAL.fullmatch(mode) else ""


def set_vertical(root: Element, mode: str) -> None:
    """Let an article say how it is set; nothing in it says so of its own."""
    for block in root.iter("div"):
        if VERTICAL.fullmatch(block.get("class") or ""):
            del block.attrib["class"]
    if mode:
        root.set("class", mode)


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Selectors of one element each, with the mode that they give it."""
    screen = _ON_PAPER.sub("", _COMMENT.sub(" ", css))
    count = 0
    for rule in _RULE.finditer(screen):
        mode = _said(rule[2])
        if mode:
            for selector in rule[1].split(","):
                bare = selector.strip().removeprefix("html ").replace(":root", "html")
                if _SIMPLE.fullmatch(bare) and bare:
                    yield bare, mode
                    count += 1
        if count >= _MOST_RULES:
            return


def _mode_of(
    tag: str, names: frozenset[str], style: str, rules: tuple[tuple[str, str], ...]
) -> str:
    """The mode of one element: its own style before the last rule that selects it."""
    own = _said(style)
    if own:
        return own
    given = [mode for selector, mode in rules if _selects(selector, tag, names)]
    return given[-1] if given else ""


def _selects(selector: str, tag: str, names: frozenset[str]) -> bool:
    found = _SIMPLE.fullmatch(selector)
    if found is None or found["tag"].lower() not in {"", "*", tag}:
        return False
    return names.issuperset(re.findall(r"[.#][\w-]+", found["names"]))


def _names(classes: str, identity: str) -> frozenset[str]:
    return frozenset({f"#{identity}", *(f".{each}" for each in classes.split())})


def _said(declarations: str) -> str:
    """The mode that declarations end with."""
    found = _SAID.findall(declarations) if _PROPERTY in declarations.lower() else []
    last = found[-1].lower() if found else ""
    return _OLD.get(last, last)
