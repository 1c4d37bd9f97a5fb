"""How a browser's tokenizer sees tags (HTML §13.2.5), as patterns. Each is linear.

All of them see what is whole; a tag that comes in pieces is gathered by ``partial_tag``.
"""

import re
from typing import Final

from archiver.references.svg_mathml import ROOTS
from archiver.rewrite.raw_text import RAW_TEXT
from archiver.rewrite.treatments import HANDLER, HOT, LOOKED_AT

_SPACE = r"\t\n\f\r "
_VALUE = rf"""(?:"[^"]*+"|'[^']*+'|[^{_SPACE}>"'][^{_SPACE}>]*+|(?=>))"""
_ATTRIBUTE = (
    rf"[{_SPACE}/]*+[^{_SPACE}/>][^{_SPACE}/>=]*+[{_SPACE}]*+(?:=[{_SPACE}]*+{_VALUE}|(?!=))"
)

TAG: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)(?>(?:{_ATTRIBUTE})*)[{_SPACE}/]*+>")
"""A whole tag: whether it is an end tag, its name."""

ATTRIBUTE: Final = re.compile(
    rf"([^{_SPACE}/>][^{_SPACE}/>=]*+)"
    rf"(?>(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^{_SPACE}>\"'][^{_SPACE}>]*+)|(?=>)))?)"
)
"""One attribute inside a whole tag: name; value in double quotes, in single quotes, in none."""

_COLD_NAME = r"[a-z][a-z0-9-]*+"
_SPECIAL = "|".join(
    sorted(
        {*RAW_TEXT, "script", "style", "noscript", "plaintext", *ROOTS, *LOOKED_AT},
    )
)
_HOT = "|".join([*sorted(HOT), HANDLER.pattern])
PLAIN: Final = re.compile(
    rf"""(?>(?: [^<]++
    | </[a-zA-Z][^{_SPACE}/>]*+>
    | <(?!(?:{_SPECIAL})[{_SPACE}/>]){_COLD_NAME}
      (?>(?:[{_SPACE}]++(?!(?:{_HOT})[{_SPACE}=/>])[a-z_:@.-][a-z0-9_:@.-]*+
        (?:="[^"]*+"|='[^']*+'|=[^{_SPACE}>"'][^{_SPACE}>]*+|(?!=))
      )*)[{_SPACE}]*+/?>
    | <(?=[^a-zA-Z/!?])
    )*)""".replace(_SPACE, _SPACE.replace(" ", r"\x20")),
    re.VERBOSE,
)
"""Text, end tags, and start tags that point nowhere: what is left as it is outside SVG, MathML."""

NAME: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)")
"""The start of a tag: whether it is an end tag, its name."""

UPPER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
"""ASCII only: names that differ in other letters differ."""
