"""A sanitised article as one text with its markup beside it: where words stand, and marking them.

The text is what a browser gives as ``textContent``, so that a place in it is the same here, in a
script, and in a W3C Web Annotation (TextPositionSelector: characters from the beginning).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape

from archiver.html.text import BLOCKS

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)(?:[^<>\"]|\"[^\"]*\")*>")
_OPAQUE = frozenset({"math", "svg"})
"""Within them text is not that of a person, and no mark may stand."""
_BREAKS = BLOCKS | {"br"}


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the text that is to stand between tags of one's own.

    Attributes:
        start, end: in characters.
        tag: the start tag, ``<mark …>``; the first piece of the span gets ``first`` instead.
        first: the start tag of the first piece.
    """

    start: int
    end: int
    tag: str = "<mark>"
    first: str = ""


@dataclass(frozen=True, slots=True)
class _Words:
    """A run of text between two tags, and where in the text it begins."""

    text: str
    start: int
    is_opaque: bool


class Flow:
    """The text of an article, read once."""

    def __init__(self, html: str) -> None:
        self._tokens = list(_tokens(html))
        self._breaks = list(_break_places(self._tokens))
        self.text = "".join(each.text for each in self._tokens if isinstance(each, _Words))

    def spaced(self) -> str:
        """The text with a line end wherever a block begins or ends."""
        pieces, at = [], 0
        for place in self._breaks:
            pieces.append(self.text[at:place])
            at = place
        return "\n".join([*pieces, self.text[at:]])

    def place(self, spaced: int) -> int:
        """Where a place in the spaced text is in the text itself."""
        shifted = [place + n for n, place in enumerate(self._breaks)]
        return spaced - bisect_right(shifted, spaced - 1)

    def places(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Stretches of the spaced text as stretches of the text."""
        shifted = [place + n for n, place in enumerate(self._breaks)]
        return [
            (start - bisect_right(shifted, start - 1), end - bisect_right(shifted, end - 1))
            for start, end in spans
        ]

    def marked(self, spans: Sequence[Span]) -> str:
        """The article with stretches of its text between tags; overlapping ones nest by order."""
        cuts = _cuts(spans)
        pieces: list[str] = []
        begun: set[int] = set()
        for token in self._tokens:
            if not isinstance(token, _Words):
                pieces.append(token)
            elif token.is_opaque or not token.text.strip():
                pieces.append(escape(token.text, quote=False))
            else:
                pieces += _marked(token, spans, cuts, begun)
        return "".join(pieces)


def _tokens(html: str) -> Iterator[str | _Words]:
    at = start = 0
    above: list[str] = []
    for tag in _TAG.finditer(html):
        if tag.start() > at:
            words = _Words(unescape(html[at : tag.start()]), start, bool(above))
            start += len(words.text)
            yield words
        yield tag[0]
        at = tag.end()
        name = tag[2].lower()
        if name in _OPAQUE and not tag[0].endswith("/>"):
            if not tag[1]:
                above.append(name)
            elif above:
                above.pop()
    if at < len(html):
        yield _Words(unescape(html[at:]), start, is_opaque=False)


def _break_places(tokens: Sequence[str | _Words]) -> Iterator[int]:
    """Where the text is broken by blocks, ascending, each place once."""
    at, last = 0, -1
    for token in tokens:
        if isinstance(token, _Words):
            at = token.start + len(token.text)
        elif at != last and _name(token) in _BREAKS:
            last = at
            yield at


def _name(tag: str) -> str:
    found = _TAG.match(tag)
    return found[2].lower() if found else ""


def _cuts(spans: Sequence[Span]) -> list[int]:
    return sorted({place for each in spans for place in (each.start, each.end)})


def _marked(
    token: _Words, spans: Sequence[Span], cuts: Sequence[int], begun: set[int]
) -> Iterator[str]:
    end = token.start + len(token.text)
    inner = cuts[bisect_right(cuts, token.start) : bisect_right(cuts, end - 1)]
    near = [(n, each) for n, each in enumerate(spans) if each.start < end > token.start < each.end]
    for start, stop in zip([token.start, *inner], [*inner, end], strict=True):
        text = escape(token.text[start - token.start : stop - token.start], quote=False)
        around = [(n, each) for n, each in near if each.start <= start and stop <= each.end]
        opened = []
        for n, each in around:
            opened.append(each.tag if n in begun else each.first or each.tag)
            begun.add(n)
        yield "".join(opened) + text + "</mark>" * len(around)
