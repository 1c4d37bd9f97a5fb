"""Why a record holds less than there was."""

from enum import StrEnum


class Truncation(StrEnum):
    """The values of WARC-Truncated (ISO 28500 §5.13)."""

    LENGTH = "length"
    TIME = "time"
    DISCONNECT = "disconnect"
    UNSPECIFIED = "unspecified"
