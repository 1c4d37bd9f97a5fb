"""Which elements of a parsed page are SVG or MathML."""

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.references.svg_mathml import ROOTS, kind_inside, kind_of


class ForeignContent:
    """Remembers of each element what stands inside it, so that no path is walked twice.

    Args:
        root: of the page, or of a template's content.
    """

    def __init__(self, root: LexborHTMLParser | LexborNode) -> None:
        self._is_there = root.css_first(", ".join(ROOTS)) is not None
        self._inside: dict[int, str] = {}

    def kind(self, node: LexborNode) -> str:
        """``svg`` or ``math``; empty for HTML."""
        return kind_of(_name(node), self._around(node)) if self._is_there else ""

    def _around(self, node: LexborNode) -> str:
        path: list[LexborNode] = []
        above = node.parent
        while above is not None and above.mem_id not in self._inside:
            path.append(above)
            above = above.parent
        kind = self._inside[above.mem_id] if above is not None else ""
        for element in reversed(path):
            name = _name(element)
            kind = kind_inside(name, kind_of(name, kind))
            self._inside[element.mem_id] = kind
        return kind


def _name(node: LexborNode) -> str:
    return (node.tag or "").lower()
