"""Tracking of SVG and MathML in markup.

In SVG and MathML ``<style>`` and ``<script>`` contain markup, CDATA sections exist, and any element
can have an ``href``. This module follows the HTML tree builder (§13.2.6.5) within the limits of a
tokenizer: it tracks open SVG and MathML elements, HTML integration points, and the tags that end
foreign content.
"""

from typing import Final

from archiver.pages.references import HTML_AGAIN, ROOTS, element_kind, kind_inside

_BREAK_OUT: Final = frozenset(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li "
    "listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul "
    "var".split()
)
"""HTML elements whose start tag ends foreign content."""
_CLOSES_OUTER: Final = _BREAK_OUT | frozenset(
    "a abbr address article aside button cite details dialog fieldset figcaption figure font "
    "footer form header hgroup html label legend main mark nav noscript object option picture "
    "search section select summary tbody td template tfoot th thead time tr".split()
)
"""HTML elements whose end tag ends foreign content if it closes an element around that content."""

_TRACKED = ROOTS.union(*HTML_AGAIN.values())
_MAX_DEPTH = 256


class Foreign:
    """Stack of open foreign elements. Names are lower case.

    Args:
        xml: the document is XML, where the rules of the HTML tree builder do not apply.
    """

    def __init__(self, *, xml: bool = False) -> None:
        self._xml = xml
        self._open: list[tuple[str, str]] = []
        """Names and content kinds: ``svg``, ``math``, or empty for HTML."""

    @property
    def near(self) -> bool:
        """Return whether a foreign element is open, so that each tag must be examined."""
        return self._xml or bool(self._open)

    @property
    def depth(self) -> int:
        """The number of open SVG and MathML elements."""
        return len(self._open)

    @property
    def inside(self) -> bool:
        """Return whether the next content is foreign content."""
        return self._xml or bool(self._kind())

    def start(self, name: str, *, closes_itself: bool) -> str:
        """Process a start tag; return ``svg`` or ``math`` if it is a foreign element, else "".

        The element stays open unless the tag ``closes_itself``.
        """
        if self._xml:
            return ""
        kind = self._kind()
        if kind and name in _BREAK_OUT:
            self._leave_foreign()
            return ""
        kind = element_kind(name, kind)
        if kind and not closes_itself and len(self._open) < _MAX_DEPTH:
            self._open.append((name, kind_inside(name, kind)))
        return kind

    def end(self, name: str) -> None:
        """Process an end tag.

        It closes the nearest open element of that name, or ends foreign content.
        """
        kind = self._kind()
        if not kind and name not in _TRACKED:
            return
        if any(name == each for each, _ in self._open):
            while self._open.pop()[0] != name:
                pass
        elif kind and name in _CLOSES_OUTER:
            self._leave_foreign()

    def _kind(self) -> str:
        return self._open[-1][1] if self._open else ""

    def _leave_foreign(self) -> None:
        while self._kind():
            self._open.pop()
