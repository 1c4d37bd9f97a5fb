"""Template rendering."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, lru_cache, partial
from typing import Protocol
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from archiver import helpers
from archiver.http.timestamps import in_utc, to_datetime, write_iso
from archiver.model.annotation import read_source_record
from archiver.model.capture import Timestamp
from archiver.model.entry_list import EntryList
from archiver.model.imports import with_detail
from archiver.model.language import LANGUAGES, preferred_language
from archiver.model.message import Message
from archiver.web import auth
from archiver.web.app_keys import RUNTIME, SESSION, SIGNED_IN, STATIC, WORDINGS
from archiver.web.origin import SAFE_METHODS
from archiver.web.responses import vary
from archiver.web.static_files import emblem_path
from archiver.web.views import SideBar
from archiver.web.wording import Wording, answered, reason, sentences, why, why_no_feed

DENSITY_COOKIE = "view"
_YEAR = 365 * 86400


class Density(StrEnum):
    """How much of each entry a list shows."""

    COMFORTABLE = "comfortable"
    DENSE = "dense"
    COVERS = "covers"


def density_of(request: web.Request) -> Density:
    """What the request asks for with ``view``, else what this browser asked for last."""
    for given in (request.query.get(DENSITY_COOKIE), request.cookies.get(DENSITY_COOKIE)):
        if given in set(Density):
            return Density(given)
    return Density.COMFORTABLE


def remember(request: web.Request, response: web.StreamResponse) -> None:
    """Let the browser keep what was asked for; it is no secret, and no other site is told."""
    asked = request.query.get(DENSITY_COOKIE)
    if asked in set(Density) and asked != request.cookies.get(DENSITY_COOKIE):
        response.set_cookie(
            DENSITY_COOKIE, density_of(request), max_age=_YEAR, samesite="Lax", httponly=True
        )


LANGUAGE_COOKIE = "archiver_language"
_YEAR_LANGUAGE = 366 * 24 * 3600


def wording_of(request: web.Request) -> Wording:
    """How the answer to a request is worded."""
    known = request.app[WORDINGS]
    chosen = choice_of(request)
    if chosen in known:
        return known[chosen]
    wanted = preferred_language(request.headers.get("Accept-Language", ""))
    return known.get(wanted) or known[request.app[RUNTIME].settings.language]


def choice_of(request: web.Request) -> str:
    """The tag that the person chose in this browser; empty for none that there is."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    return chosen if chosen in request.app[WORDINGS] else ""


async def choose_language(request: web.Request) -> web.StreamResponse:
    """Keep the language that the footer's form names, and show the same page in it."""
    form = await request.post()
    tag = str(form.get("language", ""))
    response = web.Response(status=303, headers={"Location": _page_before(request)})
    if tag in {each.tag for each in LANGUAGES}:
        response.set_cookie(
            LANGUAGE_COOKIE,
            tag,
            max_age=_YEAR_LANGUAGE,
            httponly=True,
            samesite="Lax",
            secure=auth.is_https(request),
        )
    else:
        response.del_cookie(LANGUAGE_COOKIE)
    return response


def _page_before(request: web.Request) -> str:
    """The page that the form stood on, by the browser's word.

    A field would say the same, but nothing of a request may stand beside a permission (BREACH).
    """
    try:
        before = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return "/"
    if before.netloc != request.host:
        return "/"
    return auth.local_path(f"{before.path}?{before.query}" if before.query else before.path)


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
        loader=FileSystemLoader(helpers.TEMPLATES),
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


SHOWN = 200
"""Lists in the side bar; ``/lists`` has all of them."""


async def side_bar(request: web.Request, q: str = "") -> SideBar:
    """What stands beside a page, with the list marked that it shows."""
    found = await request.app[RUNTIME].lists.all()
    current, is_whole = _asked_for(found, q.strip().casefold())
    return SideBar(found[:SHOWN], current, len(found), is_whole=is_whole)


def _asked_for(found: Sequence[EntryList], asked: str) -> tuple[EntryList | None, bool]:
    """The list that a query shows, and whether it shows what lies in the lists in it, too."""
    if not asked.startswith("list:"):
        found = [each for each in found if each.query]
    else:
        whole = next((each for each in found if each.asks_all.casefold() == asked), None)
        if whole:
            return whole, True
    return next((each for each in found if each.asks.casefold() == asked), None), False


async def render_beside(
    request: web.Request, template: str, view: View, *, status: int = 200
) -> web.Response:
    """A page with the side bar beside it."""
    return render(request, template, view, side=await side_bar(request), status=status)
