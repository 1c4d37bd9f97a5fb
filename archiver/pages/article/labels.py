"""Kinds of blocks around an article, by their labels and names (``labels.toml``)."""

import re
import tomllib
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Final

MAX_LABEL: Final = 60


class Kind(StrEnum):
    """Kind of a block around an article."""

    RELATED = "related"
    COMMENTS = "comments"
    AUTHOR = "author"
    LETTER = "letter"
    SHARE = "share"
    TAGS = "tags"
    NOTICE = "notice"
    ACTION = "action"


_WORDS: Final = tomllib.loads(files(__package__).joinpath("labels.toml").read_text("utf-8"))
_SIGNS = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAX_NAME = 200

_WHOLE: Final = {
    phrase: kind
    for kind in reversed(Kind)
    for phrase in _WORDS[kind]["labels"]
    if phrase[-1] != "*"
}
_BEGUN: Final = {
    kind: tuple(phrase[:-1] for phrase in _WORDS[kind]["labels"] if phrase[-1] == "*")
    for kind in Kind
}


def _compile_names() -> re.Pattern[str]:
    kinds = (
        f"(?P<{kind}>{'|'.join(_WORDS[kind]['names']).replace('*', '[a-z]*')})"
        for kind in Kind
        if _WORDS[kind]["names"]
    )
    return re.compile(rf"(?:^|[\s_-])(?:{'|'.join(kinds)})(?:$|[\s_-])")


_NAMED: Final = _compile_names()


@lru_cache(maxsize=4096)
def kind_of_label(text: str) -> Kind | None:
    """Return the kind of block that a short text announces; None if it is no such label."""
    label = _SIGNS.sub("", text).lower().replace("\u2019", "'")
    if not label or len(label) > MAX_LABEL:
        return None
    if label in _WHOLE:
        return _WHOLE[label]
    return next((kind for kind, begun in _BEGUN.items() if label.startswith(begun)), None)


def kind_of_name(name: str) -> Kind | None:
    """Return the kind of block that a class and id suggest."""
    return _known_kind(name) if 1 < len(name) <= _MAX_NAME else None


@lru_cache(maxsize=4096)
def _known_kind(name: str) -> Kind | None:
    found = _NAMED.search(_CAMEL.sub("-", name).lower())
    return Kind(found.lastgroup) if found and found.lastgroup else None
