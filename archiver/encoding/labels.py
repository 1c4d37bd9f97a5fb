"""Names of encodings, and the labels that the web gives them (WHATWG Encoding §4.2)."""

from typing import Final, NewType

from webencodings import LABELS

Encoding = NewType("Encoding", str)
"""An encoding's name in the standard, lower case."""

UTF_8: Final = Encoding("utf-8")
UTF_16LE: Final = Encoding("utf-16le")
UTF_16BE: Final = Encoding("utf-16be")
WINDOWS_1252: Final = Encoding("windows-1252")
REPLACEMENT: Final = Encoding("replacement")
X_USER_DEFINED: Final = Encoding("x-user-defined")
ENCODINGS: Final = frozenset(map(Encoding, LABELS.values()))

WHITESPACE: Final = "\t\n\f\r "


def lookup(label: str) -> Encoding | None:
    """The encoding of a label ("get an encoding"), or None if it is no label.

    >>> lookup(" Latin1 "), lookup("utf8"), lookup("idna")
    ('windows-1252', 'utf-8', None)
    """
    if not label.isascii():
        return None
    name = LABELS.get(label.strip(WHITESPACE).lower())
    return Encoding(name) if name else None


def lookup_inside(label: str) -> Encoding | None:
    """The encoding of a label that stands in the text itself (HTML §13.2.3.2).

    Who could read the label does not read UTF-16.
    """
    encoding = lookup(label)
    return UTF_8 if encoding in (UTF_16LE, UTF_16BE) else encoding
