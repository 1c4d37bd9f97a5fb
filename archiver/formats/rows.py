"""A row of somebody's export: fields are taken by name, and what nobody took is kept verbatim."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any
from unicodedata import combining, normalize

from archiver.formats.dates import parse_date
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark
from archiver.model.kept_page import KeptPage, html_page
from archiver.model.source_record import write_source_record

_SHORT = 500
MAX_URL = 10_000
"""Characters kept of a URL: more than can be captured, so that a longer one is still refused."""
_TRUE = frozenset({"1", "true", "yes", "y", "on", "x", "t"})
_NOT_PLAIN = str.maketrans("", "", " _-\t\u00a0")


@lru_cache(4096)
def plain(name: str) -> str:
    """A field's name without case, accents, spaces, hyphens and underscores: producers vary them.

    >>> plain("Document tags"), plain("time_added"), plain("Étiquettes")
    ('documenttags', 'timeadded', 'etiquettes')
    """
    name = name.strip().lower()
    if not name.isascii():
        name = "".join(each for each in normalize("NFKD", name) if not combining(each))
    return name.translate(_NOT_PLAIN)


class Row:
    """One row; ``fields`` are its values by their names, as the file spells them."""

    __slots__ = ("_left",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._left = {plain(name): (name, value) for name, value in fields.items()}

    def take(self, *names: str) -> Any:
        """The first of these fields that says something, which is then taken; None if none does."""
        for name in names:
            found = self._left.get(name)
            if found is not None and found[1] not in ("", None, [], {}):
                del self._left[name]
                return found[1]
        return None

    def text(self, *names: str) -> str:
        """The same as text."""
        value = self.take(*names)
        return text_of(value).strip() if value is not None else ""

    def moment(self, *names: str) -> datetime | None:
        """The first of these that is a moment; one that is none stays, to be kept as it is."""
        for name in names:
            found = self._left.get(name)
            moment = parse_date(text_of(found[1])) if found and found[1] is not None else None
            if moment:
                del self._left[name]
                return moment
        return None

    def flag(self, *names: str) -> bool:
        """Whether the first of these that is there says so."""
        value = self.take(*names)
        return value is not None and text_of(value).strip().lower() in _TRUE

    def peek(self, name: str) -> Any:
        """A field that stays where it is; None if it is not there."""
        found = self._left.get(name)
        return found[1] if found else None

    def word(self, name: str, wanted: str, *others: str) -> bool:
        """Whether a field says this word; one that says neither this nor the others stays."""
        text = text_of(self.peek(name)).strip().lower()
        if text in (wanted, *others):
            self.drop(name)
        return text == wanted

    def names(self, *names: str, between: str = ",") -> tuple[str, ...]:
        """A field that names several things: a list, of texts or of objects, or a text."""
        return names_of(self.take(*names), between)

    def drop(self, *names: str) -> None:
        """Leave fields out: they say nothing that is not said otherwise."""
        for name in names:
            self._left.pop(name, None)

    def put(self, name: str, value: Any) -> None:
        """Keep something with what is left, by a name of ours."""
        self._left[f"\0{name}"] = (name, value)

    def left(self) -> dict[str, Any]:
        """What nobody took, as the file spells it."""
        return dict(self._left.values())

    def bookmark(
        self, url: str, *, title: str = "", page: KeptPage | str = "", **known: Any
    ) -> Bookmark:
        """A bookmark of what was taken; what was not goes into its source record.

        A title that is the address says nothing: services put it where there is none. ``page`` is
        what was kept of it, or the HTML of that.
        """
        title = " ".join(title.split())
        record = write_source_record(dict(self._left.values())) if self._left else ""
        if title == url:
            title = ""
        annotation = Annotation(url[:MAX_URL], title=title, source_record=record, **known)
        return Bookmark(annotation, page=html_page(page) if isinstance(page, str) else page)


def text_of(value: Any) -> str:
    """A value as text; what is neither text nor a number says nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else ""


def names_of(value: Any, between: str = ",") -> tuple[str, ...]:
    """The names in a list of texts or of objects with a name, or in a text; each once."""
    if isinstance(value, str):
        return (_known_names if len(value) < _SHORT else _names_in)(value, between)
    if not isinstance(value, list | tuple):
        return ()
    some = (_name_of(each).strip() for each in value)
    return tuple(dict.fromkeys(each for each in some if each))


def _names_in(text: str, between: str) -> tuple[str, ...]:
    some = text.split(between) if between else text.split()
    return tuple(dict.fromkeys(filter(None, map(str.strip, some))))


_known_names = lru_cache(8192)(_names_in)
"""The tags of one row are often those of another."""


def _name_of(value: Any) -> str:
    if isinstance(value, dict):
        value = next((value[key] for key in ("name", "label", "tag", "title") if key in value), "")
    return text_of(value)


def both(*parts: str) -> str:
    """Texts one below the other, each once."""
    return "\n\n".join(dict.fromkeys(each for each in (part.strip() for part in parts) if each))


def first_of(values: Iterable[str]) -> str:
    """The first text that is not empty."""
    return next(filter(None, values), "")
