"""Text as it can be written: what JSON's escapes may hold, and UTF-8 or XML may not."""

import re

_LONE = re.compile("[\ud800-\udfff]")
_NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def well_formed(text: str) -> str:
    """Text with U+FFFD for each lone surrogate, as String.prototype.toWellFormed of ECMA-262.

    JSON may escape one half of a pair (RFC 8259 §8.2), and arguments that are no UTF-8 bring some.
    """
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def for_xml(text: str) -> str:
    """Well-formed text without what no XML 1.0 document may hold, however it is written (§2.2)."""
    return _NOT_XML.sub("", well_formed(text))
