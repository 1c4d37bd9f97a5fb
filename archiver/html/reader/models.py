"""What may stand in what (HTML §3.2.5, and the content model of each element in §4)."""

from typing import Final

HEADINGS: Final = frozenset("h1 h2 h3 h4 h5 h6".split())
SECTIONING: Final = frozenset("article aside nav section".split())
FLOW: Final = HEADINGS | frozenset(
    "address article aside blockquote details div dl figure footer header hr main ol p pre section "
    "table ul".split()
)
"""What can't stand in a line of text."""

PARTS: Final = frozenset(
    "caption col colgroup dd dt figcaption li summary tbody td tfoot th thead tr".split()
)
"""What stands in one kind of element alone."""

LINES: Final = HEADINGS | {"pre", "summary"}
"""What holds a line of text and no block, and can't be anything else."""

EMPHASIS: Final = frozenset(
    "abbr b bdi bdo cite code del dfn em i ins kbd mark q rt ruby s samp small span strong sub sup "
    "time u var".split()
)
"""What stands in a line of text and holds some."""

UNHEADED: Final = frozenset({"address", "th"})
"""What holds no heading, no section, no header and no footer; terms hold none either."""

OUTLINED: Final = HEADINGS | SECTIONING | {"header", "footer", "address"}
ROWS: Final = frozenset({"table", "tbody", "thead", "tfoot"})
PARENTS: Final = {
    "caption": frozenset({"table"}),
    "colgroup": frozenset({"table"}),
    "col": frozenset({"colgroup", "table"}),
    **dict.fromkeys(("tbody", "thead", "tfoot"), frozenset({"table"})),
    "tr": ROWS,
    **dict.fromkeys(("td", "th"), frozenset({"tr"})),
    "summary": frozenset({"details"}),
    **dict.fromkeys(("rt", "rp"), frozenset({"ruby"})),
    "source": frozenset({"picture", "video", "audio"}),
}
"""Where parts stand that are no item of a list and no caption."""
