"""What attributes of HTML may say, where not every value is valid (HTML §3.2.6 and §4)."""

import re
from typing import Final

_NUMBER = re.compile(r"-?[0-9]{1,9}")
_PIXELS = re.compile(r"[0-9]{1,5}")
_COLUMNS = re.compile(r"[1-9][0-9]{0,2}|1000")
_LENGTH = r"(?:[0-9]{1,5}(?:\.[0-9]{1,5})?(?:px|r?em|vw|vh)|calc\([a-z0-9\s.+*/-]{1,80}\))"
_CONDITION = r"\([a-z-]{1,30}:\s*[0-9.]{1,9}(?:px|r?em)\)"
_CONDITIONS = rf"{_CONDITION}(?:\s+and\s+{_CONDITION}){{0,3}}"

SIZES: Final = re.compile(rf"(?:{_CONDITIONS}\s+{_LENGTH},\s*){{0,20}}{_LENGTH}")
"""How wide a picture is shown, by the width of the window."""

_SAID = {
    "dir": re.compile("ltr|rtl|auto", re.IGNORECASE),
    "lang": re.compile("(?:[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,8})?", re.IGNORECASE),
    "width": _PIXELS,
    "height": _PIXELS,
    "colspan": _COLUMNS,
    "rowspan": re.compile("[0-9]{1,4}"),
    "span": _COLUMNS,
    "scope": re.compile("row|col|rowgroup|colgroup", re.IGNORECASE),
    "start": _NUMBER,
    "value": _NUMBER,
    "preload": re.compile("none|metadata|auto|", re.IGNORECASE),
    "sizes": SIZES,
}
_KINDS = {
    "ol": re.compile("[1aAiI]"),
    "source": re.compile(
        r"[\w.+-]{1,80}/[\w.+-]{1,80}(?:\s*;\s*\w{1,20}=(?:[\w.+-]{1,80}|\"[^\"]{0,80}\"))?",
        re.ASCII,
    ),
}
"""What ``type`` may say."""


def may_say(tag: str, name: str, value: str) -> bool:
    """Whether a value is valid for an attribute of an element; those not known here may say all."""
    allowed = _KINDS.get(tag) if name == "type" else _SAID.get(name)
    return allowed is None or allowed.fullmatch(value) is not None
