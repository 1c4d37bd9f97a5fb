"""Renders pages: Jinja2 with autoescape, where a name that is missing is an error."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from typing import Protocol

from aiohttp import hdrs, web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from archiver import paths
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Timestamp
from archiver.model.entry_list import EntryList
from archiver.model.language import LANGUAGES
from archiver.model.message import Message
from archiver.model.row_problems import with_detail
from archiver.model.source_record import read_source_record
from archiver.web.density import Density, density_of, remember
from archiver.web.emblems import emblem_path
from archiver.web.failure_words import answered, reason, sentences, why, why_no_feed
from archiver.web.keys import SESSION, SIGNED_IN, STATIC
from archiver.web.language import choice_of, wording_of
from archiver.web.origin import SAFE_METHODS
from archiver.web.packing import vary
from archiver.web.views import SideBar
from archiver.web.wording import Wording
from archiver.wire.moments import in_utc, write_iso

WORDS_A_MINUTE = 230
KEPT_SIDE_BARS = 8
"""Of one language: each is up to 40 kB."""


_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


class View(Protocol):
    """What a template is given: a dataclass of ``views``."""

    @property
    def title(self) -> str | Message:
        """The page's title."""


def render(
    request: web.Request,
    template: str,
    view: View,
    *,
    side: SideBar | None = None,
    status: int = 200,
) -> web.Response:
    """The page of a template and its view, in the language of whoever asks; ``side`` beside it."""
    wording = wording_of(request)
    text = (
        environment(wording)
        .get_template(template)
        .render(
            view=view,
            side=side,
            signed_in=request[SIGNED_IN],
            static=request.app[STATIC].url,
            path=request.path,
            can_choose=request.method in SAFE_METHODS and bool(request[SESSION]),
            chosen=choice_of(request),
            density=density_of(request),
            densities=tuple(Density),
        )
    )
    response = web.Response(text=text, content_type="text/html", status=status)
    vary(response, hdrs.ACCEPT_LANGUAGE)
    vary(response, hdrs.COOKIE)
    remember(request, response)
    return response


class _Environment(Environment):
    """With what the extension for texts adds."""

    newstyle_gettext: bool


@cache
def environment(wording: Wording) -> Environment:
    """The templates in one language, with the filters they use."""
    made = _Environment(
        loader=FileSystemLoader(paths.TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.policies["ext.i18n.trimmed"] = True
    made.newstyle_gettext = True
    made.globals.update(_=wording.gettext, gettext=wording.gettext, ngettext=wording.ngettext)
    made.globals.update(pgettext=wording.pgettext, languages=LANGUAGES, language=wording.language)
    made.globals.update(lang=wording.language.tag, month_names=wording.forms.month_names)
    made.globals.update(failures=sentences(wording), answered=answered(wording))
    made.filters.update(moment=lambda value: wording.moment(_when(value)), day=_day_in(wording))
    made.filters.update(to_the_second=lambda value: wording.to_the_second(_when(value)))
    made.filters.update(size=wording.size, number=wording.number, said=wording.worded)
    made.filters.update(percent=wording.percent)
    made.filters.update(translated=wording.translated, why=partial(why, wording))
    made.filters.update(reason=partial(reason, wording), why_no_feed=partial(why_no_feed, wording))
    made.filters.update(row_reason=partial(_row_reason, wording))
    made.filters.update(date=date, iso=iso, epoch=epoch, minutes=minutes_to_read)
    made.filters.update(tag_list=tag_list, source_record=read_source_record)
    made.filters.update(
        emblem=emblem_path, initial=initial, unturned=unturned, asks_for_list=asks_for_list
    )
    made.globals.update(side_bar=_side_bar_in(made))
    return made


def _row_reason(wording: Wording, reason_text: str) -> str:
    """Why a row is not usable, of which a receipt keeps the English sentence."""
    reason = with_detail(reason_text)
    return wording.translated(reason) if isinstance(reason, str) else wording.worded(reason)


def _side_bar_in(made: Environment) -> Callable[[SideBar], str]:
    @lru_cache(KEPT_SIDE_BARS)
    def side_bar(side: SideBar) -> str:
        """What stands beside a page: the same on each until a list changes."""
        bar: str = vars(made.get_template("side.html").module)["bar"](side)
        return bar

    return side_bar


def minutes_to_read(word_count: int) -> int:
    """How long a text of so many words takes to read."""
    return max(round(word_count / WORDS_A_MINUTE), 1)


def date(value: datetime | Timestamp) -> str:
    """The day of a moment, in UTC: ``2026-11-20``."""
    return f"{_when(value):%Y-%m-%d}"


def epoch(seconds: int) -> datetime:
    """A moment that is kept as seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def _day_in(wording: Wording) -> Callable[[str], str]:
    def day(date: str) -> str:
        """A date as a page gives it, as people read it; as it is where it is none."""
        try:
            return wording.day(datetime.fromisoformat(date))
        except ValueError:
            return date

    return day


def unturned(text: str) -> str:
    """Text without the marks that turn what stands around it, too (Unicode UAX #9 §2.1 to 2.3)."""
    return text if text.isascii() else _TURNING.sub("", text)


def initial(site: str) -> str:
    """The letter that stands for a site without an icon.

    >>> initial("www.example.org")
    'E'
    """
    name = site.removeprefix("www.").lstrip("[.")
    return name[:1].upper() or "?"


def asks_for_list(path: str) -> str:
    """The search that shows a list."""
    return EntryList(path).asks


def iso(value: datetime | Timestamp) -> str:
    """A moment for ``<time datetime>``."""
    return write_iso(_when(value))


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
    return _moment_of(value)


@lru_cache(1024)
def _moment_of(timestamp: Timestamp) -> datetime:
    """A page says most of its moments twice: for people, and for programs."""
    return to_datetime(timestamp)
