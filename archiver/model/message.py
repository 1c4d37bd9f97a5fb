"""Translatable messages.

``str`` gives the English text, for logs, the API and the command line. Web pages translate it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """Translatable sentence or phrase.

    Attributes:
        text: English text with ``{name}`` placeholders. A text without values may contain braces.
        many: English plural form, for any ``count`` except 1; empty if nothing is counted.
        values: values of the placeholders by name. A page shows numbers and messages among them in
            its language.
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
        texts = {name: _shown(value) for name, value in self.values.items()}
        return text.format(**texts) if texts else text

    def __bool__(self) -> bool:
        return bool(self.text)


def counted(one: str, many: str, /, *, count: int, **values: object) -> Message:
    """Return a message in singular or plural, depending on ``count``.

    >>> str(counted("{count} page", "{count} pages", count=1200))
    '1,200 pages'
    """
    message = Message(one, count=count, **values)
    object.__setattr__(message, "many", many)
    return message


def marked(text: str) -> str:
    """Mark a text for translation and return it unchanged; it is translated when it is shown."""
    return text


def forms(one: str, many: str, /) -> tuple[str, str]:
    """Mark a singular and a plural form for translation; the result is passed to ``counted``."""
    return one, many


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
