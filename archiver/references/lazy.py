"""What a page's scripts would put in the place of an attribute: images that load lazily."""

import re
from typing import Final

from archiver.references.use import POINTERS, Choice, Form, Pointer, Rule, Use, ValueOf

LAZY: Final = {
    "src": (
        "data-src",
        "data-lazy-src",
        "data-original",
        "data-original-src",
        "data-lazy",
        "data-url",
    ),
    "srcset": ("data-srcset", "data-lazy-srcset", "data-original-set"),
    "poster": ("data-poster",),
}
"""What scripts of the field set, and from which attributes, the likeliest first."""

_BACKGROUNDS = ("data-bg", "data-background", "data-background-image")
_LONGEST_URL = 8192
_LONGEST_PLACEHOLDER = 2048
_PLACEHOLDER = re.compile(
    r"data:|about:blank|#|(?:[^?#]*/)?(?:blank|spacer|placeholder|pixel|transparent|trans|clear"
    r"|loading|loader|lazy|lazyload|grey|gray|1x1)[-_.0-9a-z]*\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|\Z)",
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"(?:https?:)?/{1,2}\S", re.IGNORECASE)
_NO_URL = re.compile(r"[\s{}<>\"']")
_SUFFIX = re.compile(r"[^?#]\.\w{2,5}(?:[?#]|\Z)")


def is_placeholder(value: str) -> bool:
    """Whether an image's source only holds its place."""
    given = value.strip()
    return not given or _PLACEHOLDER.match(given[:_LONGEST_PLACEHOLDER]) is not None


def lazy_rules(eager: dict[str, Rule]) -> dict[str, Rule]:
    """The rules of the attributes that stand for those of an element."""
    return {
        lazy: _rule(lazy, pointer)
        for name, pointer in eager.items()
        if name in LAZY and isinstance(pointer, Pointer)
        for lazy in LAZY[name]
    }


def background_rules() -> dict[str, Rule]:
    """The rules of the attributes that stand for a background in any element's style."""
    return {name: _rule(name, POINTERS[Use.IMAGE]) for name in _BACKGROUNDS}


def _rule(name: str, pointer: Pointer) -> Rule:
    """Such attributes hold other things, too: settings in JSON, titles, flags."""
    is_source = pointer.form is Form.SRCSET or name.endswith("src")
    is_meant = _is_no_data if is_source else _is_like_a_url

    def choose(value_of: ValueOf) -> Pointer | None:
        return pointer if is_meant(value_of(name).strip()) else None

    return Choice(frozenset({pointer.use}), choose)


def _is_no_data(value: str) -> bool:
    return value != "" and value[0] not in "{["


def _is_like_a_url(value: str) -> bool:
    if len(value) > _LONGEST_URL:
        return False
    if _ABSOLUTE.match(value):
        return True
    return _NO_URL.search(value) is None and _SUFFIX.search(value) is not None
