"""SVG and MathML in HTML, where elements of HTML's names are others (HTML §13.2.6.5)."""

from typing import Final

ROOTS: Final = frozenset({"svg", "math"})
"""Elements that begin them; their names are also the names of the kinds."""

HTML_AGAIN: Final = {
    "svg": frozenset({"foreignobject", "desc", "title"}),
    "math": frozenset({"mi", "mo", "mn", "ms", "mtext", "annotation-xml"}),
}
"""Elements of each kind in which HTML begins again."""


def kind_of(name: str, around: str) -> str:
    """What an element is: ``svg``, ``math``, or empty for HTML.

    Args:
        name: lower case.
        around: what stands around it, likewise.
    """
    return around or (name if name in ROOTS else "")


def kind_inside(name: str, kind: str) -> str:
    """What stands inside an element of a kind."""
    return "" if kind and name in HTML_AGAIN[kind] else kind
