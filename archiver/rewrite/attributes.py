"""One start tag as its attributes, and the edits made to it; everything between stays."""

import re

from archiver.rewrite.character_references import decode_references, encode_references
from archiver.rewrite.raw_bytes import Raw
from archiver.rewrite.tag_syntax import ATTRIBUTE, UPPER

INERT_PREFIX = "data-archived-"
"""What an attribute that must do nothing is renamed with; its value stays for who reads it."""

_Found = re.Match[str]

_DOUBLE, _SINGLE, _UNQUOTED = 2, 3, 4
"""The groups of ``ATTRIBUTE`` that hold a value."""


class StartTag:
    """A whole start tag that is edited.

    Args:
        source: from ``<`` to ``>``.
        name: of the element, lower case.
        raw: between its characters and text.
        xml: whether ``<`` has to be escaped in values.
    """

    def __init__(self, source: str, name: str, raw: Raw, *, xml: bool = False) -> None:
        self.name = name
        self._source = source
        self._raw = raw
        self._xml = xml
        self._edits: dict[str, tuple[int, int, str]] = {}
        self._attributes: dict[str, _Found] = {}
        self._repeated: dict[str, list[_Found]] = {}
        self._name_end = len(name) + 1
        for found in ATTRIBUTE.finditer(source, self._name_end):
            key = found[1].translate(UPPER)
            if key in self._attributes:
                self._repeated.setdefault(key, []).append(found)
            else:
                self._attributes[key] = found

    def names(self) -> tuple[str, ...]:
        """The attributes' names, lower case, in order; of two alike the first counts."""
        return tuple(self._attributes)

    def has(self, name: str) -> bool:
        """Whether it has that attribute, even without value."""
        return name in self._attributes

    def value(self, name: str) -> str:
        """What an attribute means; empty if there is none."""
        found = self._attributes.get(name)
        if found is None:
            return ""
        group = found.lastindex or 1
        return decode_references(self._raw.to_text(found[group])) if group > 1 else ""

    def set(self, name: str, value: str) -> None:
        """Give an attribute another value, in the quotes it had; add it if there is none."""
        found = self._attributes.get(name)
        group = (found.lastindex or 1) if found else 1
        quote = "'" if group == _SINGLE else '"'
        written = encode_references(self._raw.from_text(value), quote, xml=self._xml)
        if found is None:
            edit = (self._name_end, self._name_end, f' {name}="{written}"')
        elif group in (_DOUBLE, _SINGLE):
            edit = (*found.span(group), written)
        elif group == _UNQUOTED:
            edit = (*found.span(group), f'"{written}"')
        elif "=" in self._source[found.end(1) : found.end()]:
            edit = (found.end(), found.end(), f'"{written}"')
        else:
            edit = (found.end(1), found.end(1), f'="{written}"')
        self._edits[name] = edit

    def make_inert(self, name: str, instead: str = "") -> None:
        """Rename an attribute so that it does nothing, with other source put before it.

        One of the same name further on would come into force, so it is renamed, too.
        """
        found = self._attributes.get(name)
        if found is None:
            return
        renamed = f"{INERT_PREFIX}{name.replace(':', '-')}"
        self._edits[name] = (*found.span(1), instead + renamed)
        for number, again in enumerate(self._repeated.get(name, ())):
            self._edits[f"{name} {number}"] = (*again.span(1), renamed)

    def __str__(self) -> str:
        if not self._edits:
            return self._source
        out: list[str] = []
        done = 0
        for start, end, text in sorted(self._edits.values(), key=lambda edit: edit[:2]):
            out += self._source[done:start], text
            done = end
        out.append(self._source[done:])
        return "".join(out)


def closes_itself(source: str) -> bool:
    """Whether a whole tag has the self-closing flag: its slash belongs to no unquoted value."""
    if not source.endswith("/>"):
        return False
    ends = [found.end() for found in ATTRIBUTE.finditer(source, 1)]
    return not ends or ends[-1] < len(source) - 1
