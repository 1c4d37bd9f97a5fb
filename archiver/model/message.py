"""Translatable messages.

``str`` is the English sentence, for logs, the API and the command line. A page words it in its own
language.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A sentence, or a few words.

    Attributes:
        text: in English; ``{name}`` stands where the value of that name goes. A text without
            values is taken as it is, whatever braces it has.
        many: the same for any ``count`` but one; empty where nothing is counted.
        values: by name. Numbers are written as the language of the page writes them; messages are
            worded in it.
    """

    text: str
    many: str = ""
    values: Mapping[str, object] = field(default_factory=dict)

    def __init__(self, text: str, /, **values: object) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "many", "")
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        text = self.many if self.many and self.values["count"] != 1 else self.text
        shown = {name: _shown(value) for name, value in self.values.items()}
        return text.format(**shown) if shown else text

    def __bool__(self) -> bool:
        return bool(self.text)


def counted(one: str, many: str, /, *, count: int, **values: object) -> Message:
    """A sentence about one or many, as ``count`` says.

    >>> str(counted("{count} page", "{count} pages", count=1200))
    '1,200 pages'
    """
    message = Message(one, count=count, **values)
    object.__setattr__(message, "many", many)
    return message


def marked(text: str) -> str:
    """Mark a text for translation where it stands; the page that shows it words it."""
    return text


def forms(one: str, many: str, /) -> tuple[str, str]:
    """Mark both forms of a sentence where they stand; ``counted`` takes them."""
    return one, many


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
