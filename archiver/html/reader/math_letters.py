"""Letters of formulas in the face they are meant in: browsers know no ``mathvariant`` but *normal*.

So a bold vector would be an italic letter, and the real numbers any R (MathML Core §3.2.2).
"""

import re
import unicodedata
from functools import lru_cache

from lxml.etree import _Element as Element

_STYLES = {
    "bold": ("BOLD",),
    "italic": ("ITALIC",),
    "bold-italic": ("BOLD ITALIC",),
    "double-struck": ("DOUBLE-STRUCK",),
    "script": ("SCRIPT",),
    "bold-script": ("BOLD SCRIPT",),
    "fraktur": ("FRAKTUR", "BLACK-LETTER"),
    "bold-fraktur": ("BOLD FRAKTUR",),
    "sans-serif": ("SANS-SERIF",),
    "bold-sans-serif": ("SANS-SERIF BOLD",),
    "sans-serif-italic": ("SANS-SERIF ITALIC",),
    "sans-serif-bold-italic": ("SANS-SERIF BOLD ITALIC",),
    "monospace": ("MONOSPACE",),
}
"""What Unicode calls letters of each variant; some came before the others, under other names."""

LONGEST = 100
"""Characters of one name in a formula."""
_LETTER = re.compile(r"(?:LATIN |GREEK )?(CAPITAL|SMALL) LETTER (\w+)|(DIGIT) (\w+)", re.ASCII)


def set_letters(body: Element) -> None:
    """Write letters of formulas in their variant."""
    for token in body.iter("mi", "mn", "mtext", "ms"):
        styles = _STYLES.get(token.get("mathvariant") or "")
        if styles and not len(token) and len(token.text or "") <= LONGEST:
            token.text = "".join(_styled(each, styles) for each in token.text or "")
            del token.attrib["mathvariant"]


@lru_cache(maxsize=1024)
def _styled(letter: str, styles: tuple[str, ...]) -> str:
    found = _LETTER.fullmatch(unicodedata.name(letter, ""))
    short = " ".join(filter(None, found.groups())) if found else ""
    names = (f"MATHEMATICAL {styles[0]} {short}", *(f"{each} {short}" for each in styles))
    for name in names if short else ():
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return letter
