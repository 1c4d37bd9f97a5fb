"""Processing instructions of XML: ``<?xml-stylesheet href="…"?>`` points with its ``href``."""

import re

from archiver.references.use import Use
from archiver.rewrite.character_references import decode_references, encode_references
from archiver.rewrite.raw_bytes import Raw
from archiver.rewrite.url_rewriter import UrlRewriter

_STYLE = re.compile(r"<\?xml-stylesheet[\t\n\r ]")
_HREF = re.compile(r"""([\t\n\r ]href[\t\n\r ]*+=[\t\n\r ]*+)("[^"]*+"|'[^']*+')""")


def rewrite_instruction(source: str, links: UrlRewriter, raw: Raw) -> str:
    """Rewrite an instruction from ``<?`` to ``?>``."""

    def lead(found: re.Match[str]) -> str:
        quote, reference = found[2][0], raw.to_text(found[2][1:-1])
        led = links.lead(decode_references(reference), Use.STYLE)
        if led is None:
            return found[0]
        return f"{found[1]}{quote}{encode_references(led, quote, xml=True)}{quote}"

    return _HREF.sub(lead, source) if _STYLE.match(source) else source
