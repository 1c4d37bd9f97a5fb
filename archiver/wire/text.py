"""Text as it can be written: what JSON's escapes may hold and UTF-8 may not."""

import re

_LONE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Text with U+FFFD for each lone surrogate, as String.prototype.toWellFormed of ECMA-262.

    JSON may escape one half of a pair (RFC 8259 §8.2), and arguments that are no UTF-8 bring some.
    """
    return text if text.isascii() else _LONE.sub("\ufffd", text)
