"""Renders pages: Jinja2 with autoescape, where a name that is missing is an error."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Protocol

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from archiver import paths
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Timestamp
from archiver.model.entry_list import EntryList
from archiver.model.source_record import read_source_record
from archiver.web.keys import CSRF_TOKEN, SIGNED_IN, STATIC
from archiver.wire.moments import in_utc, write_iso

WORDS_A_MINUTE = 230


_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


class View(Protocol):
    """What a template is given: a dataclass of ``views``."""

    @property
    def title(self) -> str:
        """The page's title."""


def render(request: web.Request, template: str, view: View, *, status: int = 200) -> web.Response:
    """The page of a template and its view."""
    text = (
        environment()
        .get_template(template)
        .render(
            view=view,
            csrf_token=request[CSRF_TOKEN],
            signed_in=request[SIGNED_IN],
            static=request.app[STATIC].url,
            path=request.path,
        )
    )
    return web.Response(text=text, content_type="text/html", status=status)


@cache
def environment() -> Environment:
    """The templates, with the filters they use."""
    made = Environment(
        loader=FileSystemLoader(paths.TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(moment=moment, iso=iso, size=size, number=number, plural=plural)
    made.filters.update(date=date, epoch=epoch, minutes=minutes_to_read)
    made.filters.update(tag_list=tag_list, day=day, source_record=read_source_record)
    made.filters.update(unturned=unturned, hundredths=hundredths, asks_for_list=asks_for_list)
    return made


def moment(value: datetime | Timestamp) -> str:
    """A moment as people read it: ``20 Nov 2026, 22:18 UTC``."""
    when = _when(value)
    return f"{when.day} {when:%b} {when.year:04}, {when:%H:%M} UTC"


def hundredths(count: int) -> str:
    """Hundredths as people read them: ``0.75``."""
    return f"{count / 100:.2f}"


def minutes_to_read(word_count: int) -> int:
    """How long a text of so many words takes to read."""
    return max(round(word_count / WORDS_A_MINUTE), 1)


def date(value: datetime | Timestamp) -> str:
    """The day of a moment, in UTC: ``2026-11-20``."""
    return f"{_when(value):%Y-%m-%d}"


def epoch(seconds: int) -> datetime:
    """A moment that is kept as seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def day(date: str) -> str:
    """A date as a page gives it, as people read it: ``5 Mar 2019``; as it is where it is none."""
    try:
        when = datetime.fromisoformat(date)
    except ValueError:
        return date
    return f"{when.day} {when:%b} {when.year:04}"


def unturned(text: str) -> str:
    """Text without the marks that turn what stands around it, too (Unicode UAX #9 §2.1 to 2.3)."""
    return _TURNING.sub("", text)


def asks_for_list(path: str) -> str:
    """The search that shows a list."""
    return EntryList(path).asks


def iso(value: datetime | Timestamp) -> str:
    """A moment for ``<time datetime>``."""
    return write_iso(_when(value))


def size(count: int) -> str:
    """Bytes as people read them: ``1.4 MB``."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def number(count: int) -> str:
    """A number with its thousands apart."""
    return f"{count:,}"


def plural(count: int, one: str, many: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"{count:,} {one if count == 1 else many}"


def tag_list(tags: Sequence[str]) -> str:
    """Tags as a form holds them: commas between, in quotes those that hold a comma or a quote."""
    return ", ".join(map(_quoted, tags))


def _quoted(tag: str) -> str:
    if not ("," in tag or tag.startswith('"')):
        return tag
    doubled = tag.replace('"', '""')
    return f'"{doubled}"'


def _when(value: datetime | Timestamp) -> datetime:
    if isinstance(value, datetime):
        return in_utc(value)
    return to_datetime(value)
