"""Tracking of SVG and MathML in markup.

There a ``<style>`` or ``<script>`` holds markup, CDATA sections exist, and any element can have an
``href``. This follows the tree builder (HTML §13.2.6.5) as far as a tokenizer can: open SVG and
MathML elements, the points where HTML begins again, and the tags that break out.
"""

from typing import Final

from archiver.pages.reference_attributes import HTML_AGAIN, ROOTS, kind_inside, kind_of

_BREAK_OUT: Final = frozenset(
    [
        "b",
        "big",
        "blockquote",
        "body",
        "br",
        "center",
        "code",
        "dd",
        "div",
        "dl",
        "dt",
        "em",
        "embed",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "hr",
        "i",
        "img",
        "li",
        "listing",
        "menu",
        "meta",
        "nobr",
        "ol",
        "p",
        "pre",
        "ruby",
        "s",
        "small",
        "span",
        "strong",
        "strike",
        "sub",
        "sup",
        "table",
        "tt",
        "u",
        "ul",
        "var",
    ]
)
_AROUND: Final = _BREAK_OUT | frozenset(
    (
        *("a", "abbr", "address", "article", "aside", "button", "cite", "details", "dialog"),
        *("fieldset", "figcaption", "figure", "font", "footer", "form", "header", "hgroup", "html"),
        *("label", "legend", "main", "mark", "nav", "noscript", "object", "option", "picture"),
        *("search", "section", "select", "summary", "tbody", "td", "template", "tfoot", "th"),
        *("thead", "time", "tr"),
    )
)
"""HTML elements whose end, if they were not opened inside, is that of one around."""

_MARKS = ROOTS.union(*HTML_AGAIN.values())
_DEEPEST = 256


class Foreign:
    """The stack of elements that matter. Names are lower case.

    Args:
        xml: the document is XML, in which nothing is read as HTML's tokenizer reads HTML.
    """

    def __init__(self, *, xml: bool = False) -> None:
        self._xml = xml
        self._open: list[tuple[str, str]] = []
        """Names, and what stands inside: ``svg``, ``math``, or empty for HTML."""

    @property
    def near(self) -> bool:
        """Whether any such element is open, so that each tag has to be looked at."""
        return self._xml or bool(self._open)

    @property
    def inside(self) -> bool:
        """Whether what comes next is read as foreign content."""
        return self._xml or bool(self._kind())

    def start(self, name: str, *, closes_itself: bool) -> str:
        """A start tag; returns ``svg`` or ``math`` if it is of that, else nothing."""
        if self._xml:
            return ""
        kind = self._kind()
        if kind and name in _BREAK_OUT:
            self._leave()
            return ""
        kind = kind_of(name, kind)
        if kind and not closes_itself and len(self._open) < _DEEPEST:
            self._open.append((name, kind_inside(name, kind)))
        return kind

    def end(self, name: str) -> None:
        """An end tag: closes the nearest open element of that name, or breaks out."""
        kind = self._kind()
        if not kind and name not in _MARKS:
            return
        if any(name == each for each, _ in self._open):
            while self._open.pop()[0] != name:
                pass
        elif kind and name in _AROUND:
            self._leave()

    def _kind(self) -> str:
        return self._open[-1][1] if self._open else ""

    def _leave(self) -> None:
        while self._kind():
            self._open.pop()
