"""Writing modes of text."""

import re
from collections.abc import Callable, Iterator
from typing import Final

PROPERTY: Final = "writing-mode"
VERTICAL: Final = re.compile(r"vertical-(?:rl|lr)")
"""Vertical writing modes."""

_MAX_RULES = 50
_MAX_SELECTOR = 100
_DECLARED = re.compile(
    r"(?:^|[;{\s])(?:-webkit-|-epub-|-ms-)?writing-mode\s*:\s*([a-z-]{2,20})", re.IGNORECASE
)
_OLD_NAMES = {"tb-rl": "vertical-rl", "tb": "vertical-rl", "tb-lr": "vertical-lr"}
"""Names in Internet Explorer and SVG 1.1 (CSS Writing Modes 4 §3.2)."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
"""Comment; an unclosed one extends to the end (CSS Syntax 3 §4.3.2)."""
_ON_PAPER = re.compile(r"@media\s+print[^{}@]*+\{(?:[^{}]*+\{[^{}]*+\})*+[^{}]*+\}", re.IGNORECASE)
_SELECTOR = re.compile(
    r"(?:[a-z][a-z0-9]*|\*|:root)?(?:[.#][\w-]+)*"
    r"(?:(?: ?> ?| )(?:[a-z][a-z0-9]*|\*)?(?:[.#][\w-]+)*){0,3}",
    re.IGNORECASE,
)
"""Selector of a single element, optionally with ancestors, which is cheap to match."""
_TEXT_OF_ALL = 1000
"""Characters of a text that are examined to detect its script."""
_SET_VERTICALLY = re.compile(
    "[\u1100-\u11ff\u1800-\u18af\u2e80-\u9fff\ua000-\ua4cf\ua840-\ua877\uac00-\ud7af\uf900-\ufaff]"
)
"""Han, kana, bopomofo, hangul, Yi, Mongolian and Phags-pa (CSS Writing Modes 4 §5)."""


def is_set_vertically(text: str) -> bool:
    """Return whether most of a text is in a script that can be set vertically."""
    start = "".join(text[: 2 * _TEXT_OF_ALL].split())[:_TEXT_OF_ALL]
    return len(_SET_VERTICALLY.findall(start)) > len(start) / 3


def sets_vertical_mode(css: str) -> bool:
    """Return whether a style sheet sets a vertical writing mode."""
    return any(VERTICAL.fullmatch(mode) for _, mode in rules_in(css))


def rules_in(css: str) -> Iterator[tuple[str, str]]:
    """Yield element selectors with the writing mode that they set."""
    yield from read_rules(css, PROPERTY, declared_mode)


def read_rules(css: str, prop: str, declared: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield element selectors with the value that they set for a property.

    Args:
        css: the style sheet.
        prop: the property; blocks without this word are skipped.
        declared: returns the value in a block of declarations; empty if there is none.
    """
    screen = _ON_PAPER.sub("", _COMMENT.sub(" ", css))
    count = 0
    for block in screen.split("}"):
        head, _, declarations = block.rpartition("{") if prop in block else ("", "", "")
        value = declared(declarations)
        for selector in _selectors(head) if value else ():
            if count < _MAX_RULES:
                yield selector, value
                count += 1


def _selectors(head: str) -> Iterator[str]:
    """Yield the supported selectors before a rule's bracket."""
    begun = max(head.rfind(each) for each in "{;")
    for given in head[begun + 1 :].split(","):
        selector = " ".join(given[: 2 * _MAX_SELECTOR].split())
        if 0 < len(selector) <= _MAX_SELECTOR and _SELECTOR.fullmatch(selector):
            yield selector


def declared_mode(declarations: str) -> str:
    """Return the writing mode that the declarations set last."""
    found = _DECLARED.findall(declarations) if PROPERTY in declarations.lower() else []
    last = found[-1].lower() if found else ""
    return _OLD_NAMES.get(last, last)
