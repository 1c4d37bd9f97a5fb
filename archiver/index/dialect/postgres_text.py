"""Texts as PostgreSQL can hold them: any but those with U+0000."""


def storable(text: str) -> str:
    r"""A text as PostgreSQL can hold it, which holds no U+0000; it sorts as it did.

    U+0000 becomes ``\x01\x01``, and U+0001 ``\x01\x02``.
    """
    if "\0" in text or "\x01" in text:
        return text.replace("\x01", "\x01\x02").replace("\0", "\x01\x01")
    return text


def as_it_was(text: str) -> str:
    """The text that ``storable`` was given."""
    if "\x01" in text:
        return text.replace("\x01\x01", "\0").replace("\x01\x02", "\x01")
    return text
