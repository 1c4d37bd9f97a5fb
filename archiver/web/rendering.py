"""Template rendering."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, lru_cache, partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

from aiohttp import hdrs, web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from archiver import helpers
from archiver.config import show_duration
from archiver.http.timestamps import in_utc, to_datetime, write_iso
from archiver.model.annotation import read_source_record
from archiver.model.capture import Timestamp
from archiver.model.entry_list import EntryList
from archiver.model.imports import with_detail
from archiver.model.language import LANGUAGES
from archiver.model.message import Message
from archiver.search.query_tree import Condition, FieldCondition, query_text
from archiver.services.lists import Activity
from archiver.web import auth
from archiver.web.app_keys import RUNTIME, SIGNED_IN, WORDINGS
from archiver.web.origin import base_path, without_base
from archiver.web.responses import vary
from archiver.web.static_files import preview_image_path, static_files
from archiver.web.wording import (
    Wording,
    failure_label,
    preferred_language,
    sentences,
    status_sentence,
    why,
    why_no_feed,
)

DENSITY_COOKIE = "view"
_YEAR = 365 * 86400


class Density(StrEnum):
    """Amount of detail that a list shows for each entry."""

    COMFORTABLE = "comfortable"
    DENSE = "dense"
    COVERS = "covers"


def density_of(request: web.Request) -> Density:
    """Return the density from the ``view`` parameter, or the last one chosen in this browser."""
    for density in (request.query.get(DENSITY_COOKIE), request.cookies.get(DENSITY_COOKIE)):
        if density in set(Density):
            return Density(density)
    return Density.COMFORTABLE


def remember(request: web.Request, response: web.StreamResponse) -> None:
    """Store the density that the ``view`` parameter chooses in a cookie."""
    chosen = request.query.get(DENSITY_COOKIE)
    if chosen in set(Density) and chosen != request.cookies.get(DENSITY_COOKIE):
        response.set_cookie(
            DENSITY_COOKIE, density_of(request), max_age=_YEAR, samesite="Lax", httponly=True
        )


THEME_COOKIE = "theme"


class Theme(StrEnum):
    """Colours of the pages."""

    SYSTEM = "system"
    LIGHT = "light"
    SEPIA = "sepia"
    DARK = "dark"
    BLACK = "black"


def theme_of(request: web.Request) -> Theme:
    """Return the theme chosen in this browser."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return Theme(chosen) if chosen in set(Theme) else Theme.SYSTEM


LANGUAGE_COOKIE = "archiver_language"


def wording_of(request: web.Request) -> Wording:
    """Return the translations for a request."""
    translations = request.app[WORDINGS]
    chosen = choice_of(request)
    if chosen in translations:
        return translations[chosen]
    tag = preferred_language(request.headers.get("Accept-Language", ""))
    return translations.get(tag) or translations[request.app[RUNTIME].settings.language]


def choice_of(request: web.Request) -> str:
    """Return the language tag chosen in this browser; empty if it is not available."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    return chosen if chosen in request.app[WORDINGS] else ""


async def choose_language(request: web.Request) -> web.StreamResponse:
    """Store the language chosen in the footer's form, and show the page again in it."""
    tag = str((await request.post()).get("language", ""))
    tags = {each.tag for each in LANGUAGES}
    return _with_choice(request, LANGUAGE_COOKIE, tag if tag in tags else "")


async def choose_theme(request: web.Request) -> web.StreamResponse:
    """Store the chosen theme in this browser, and show the page again with it."""
    chosen = str((await request.post()).get("theme", ""))
    is_other = chosen in set(Theme) and chosen != Theme.SYSTEM
    return _with_choice(request, THEME_COOKIE, chosen if is_other else "")


def _with_choice(request: web.Request, cookie: str, value: str) -> web.Response:
    """Redirect to the page with the form, and store a choice; an empty value deletes it."""
    response = web.Response(status=303, headers={"Location": _page_before(request)})
    if value:
        secure = auth.is_https(request)
        response.set_cookie(
            cookie, value, max_age=_YEAR, httponly=True, samesite="Lax", secure=secure
        )
    else:
        response.del_cookie(cookie)
    return response


def _page_before(request: web.Request) -> str:
    """Return the path of the page that contained the form, from the ``Referer`` header.

    A form field could not be used: a page with access tokens must not contain data of the request,
    because its compressed length could reveal the tokens (BREACH).
    """
    try:
        before = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return "/"
    if before.netloc != request.host:
        return "/"
    path = without_base(request, before.path)
    return auth.local_path(f"{path}?{before.query}" if before.query else path)


WORDS_A_MINUTE = 230
TINTS = 6
"""Number of colours in ``static/lists.css``."""


_DIRECTION_CHANGES = re.compile("[\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class SideBar:
    """Data of the navigation at the side.

    Attributes:
        lists: the first lists, in depth-first order.
        current: the list that the page shows; None if it shows none.
        count: number of all lists.
        is_whole: whether the page also shows the entries of nested lists.
        tags: the most used tags, with their number of entries.
        unread: number of unread entries.
        current_url: the path of the page, with its search as a parameter.
        can_render: whether a browser can render pages.
    """

    lists: tuple[EntryList, ...]
    current: EntryList | None
    count: int
    is_whole: bool
    tags: tuple[tuple[str, int], ...]
    unread: int
    current_url: str
    can_render: bool


def render(
    request: web.Request,
    template: str,
    *,
    title: str | Message,
    side: SideBar | None = None,
    activity: Activity | None = None,
    status: int = 200,
    **view: object,
) -> web.Response:
    """Render a template in the request's language.

    Args:
        request: the request.
        template: file of the template.
        title: title of the page.
        side: navigation; None for a page without.
        activity: progress of the crawl; None for a page without.
        status: status of the response.
        view: values that the template reads as attributes of ``view``.
    """
    wording = wording_of(request)
    text = (
        environment(wording, base_path(request))
        .get_template(template)
        .render(
            view=SimpleNamespace(title=title, **view),
            side=side,
            activity=activity,
            theme=theme_of(request),
            signed_in=request[SIGNED_IN],
            path=request.path,
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
    """Jinja environment with the attributes of the i18n extension."""

    newstyle_gettext: bool


@cache
def environment(wording: Wording, base: str = "") -> Environment:
    """Return the Jinja environment of one language, with the filters for its templates.

    ``base`` is the path under which a reverse proxy serves the application; empty for the root.
    """
    jinja = _Environment(
        loader=FileSystemLoader(helpers.TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    jinja.policies["ext.i18n.trimmed"] = True
    jinja.newstyle_gettext = True
    jinja.globals.update(_=wording.gettext, gettext=wording.gettext, ngettext=wording.ngettext)
    jinja.globals.update(pgettext=wording.pgettext, languages=LANGUAGES, language=wording.language)
    jinja.globals.update(
        base=base, static=lambda name: base + static_files(helpers.STATIC).url(name)
    )
    jinja.globals.update(i=lambda name: _icon(base, name), themes=tuple(Theme))
    jinja.globals.update(lang=wording.language.tag, month_names=wording.forms.month_names)
    jinja.globals.update(failures=sentences(wording), status_sentence=status_sentence(wording))
    jinja.filters.update(moment=lambda value: wording.moment(_when(value)), day=_day_in(wording))
    jinja.filters.update(to_the_second=lambda value: wording.to_the_second(_when(value)))
    jinja.filters.update(size=wording.size, number=wording.number, text=wording.text_of)
    jinja.filters.update(percent=wording.percent)
    jinja.filters.update(translated=wording.translated, why=partial(why, wording))
    jinja.filters.update(
        reason=partial(failure_label, wording), why_no_feed=partial(why_no_feed, wording)
    )
    jinja.filters.update(row_reason=partial(_row_reason, wording))
    jinja.filters.update(date=date, iso=iso, epoch=epoch, minutes=minutes_to_read)
    jinja.filters.update(
        tag_list=tag_list, source_record=read_source_record, duration=show_duration
    )
    jinja.filters.update(
        preview_image=partial(preview_image_path, base=base),
        initial=initial,
        tint=tint,
        without_direction_changes=without_direction_changes,
        search_for_list=search_for_list,
        search_for_feed=search_for_feed,
    )
    return jinja


@cache
def _icon(base: str, name: str) -> Markup:
    """Return an icon of ``static/icons.svg``; screen readers skip icons."""
    source = f"{base}{static_files(helpers.STATIC).url('icons.svg')}#{name}"
    return Markup('<svg class="i" aria-hidden="true"><use href="{}"/></svg>').format(source)


def _row_reason(wording: Wording, reason_text: str) -> str:
    """Translate the reason why a row is unusable; reports store the English sentence."""
    reason = with_detail(reason_text)
    return wording.translated(reason) if isinstance(reason, str) else wording.text_of(reason)


@dataclass(frozen=True, slots=True)
class Month:
    """The captures of a month: their number, and the newest timestamp or an empty string."""

    count: int
    newest: str


@dataclass(frozen=True, slots=True)
class Year:
    """The captures of a year by month."""

    name: str
    count: int
    months: tuple[Month, ...]


def calendar(timestamps: Iterable[str]) -> tuple[Year, ...]:
    """Group 14-digit timestamps (newest first) by year and month, newest year first."""
    by_year: dict[str, dict[str, list[str]]] = {}
    for each in timestamps:
        months = by_year.setdefault(each[:4], {})
        months.setdefault(each[4:6], []).append(each)
    return tuple(
        Year(
            year,
            sum(map(len, months.values())),
            tuple(
                Month(len(days), days[0] if days else "")
                for n in range(1, 13)
                for days in [months.get(f"{n:02}", [])]
            ),
        )
        for year, months in by_year.items()
    )


def minutes_to_read(word_count: int) -> int:
    """Return the reading time of a text in minutes."""
    return max(round(word_count / WORDS_A_MINUTE), 1)


def date(value: datetime | Timestamp) -> str:
    """Format a date in UTC: ``2026-11-20``."""
    return f"{_when(value):%Y-%m-%d}"


def epoch(seconds: int) -> datetime:
    """Convert seconds since 1970 to a datetime."""
    return datetime.fromtimestamp(seconds, UTC)


def _day_in(wording: Wording) -> Callable[[str], str]:
    def day(date: str) -> str:
        """Format a publication date for display; return invalid dates unchanged."""
        try:
            return wording.day(datetime.fromisoformat(date))
        except ValueError:
            return date

    return day


def without_direction_changes(text: str) -> str:
    """Remove characters that change the writing direction of other text (UAX #9 §2.1 to 2.3)."""
    return text if text.isascii() else _DIRECTION_CHANGES.sub("", text)


def initial(site: str) -> str:
    """Return the letter that is shown for a site without a favicon."""
    name = site.removeprefix("www.").lstrip("[.")
    return name[:1].upper() or "?"


def tint(site: str) -> int:
    """Return the number of the colour that is shown for a site without a picture."""
    return crc32(site.encode()) % TINTS


def search_for_list(path: str) -> str:
    """Return the search that shows a list."""
    return EntryList(path).search_query


def search_for_feed(url: str) -> str:
    """Return the search that shows the entries of a feed."""
    return query_text(FieldCondition(Condition.FEED, url))


def iso(value: datetime | Timestamp) -> str:
    """Format a time for ``<time datetime>``."""
    return write_iso(_when(value))


def tag_list(tags: Sequence[str]) -> str:
    """Join tags for a form field.

    A tag that contains a comma or starts with a quote is put in quotes.
    """
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
    """Convert a timestamp; cached, because most timestamps of a page occur twice."""
    return to_datetime(timestamp)


SHOWN = 200
"""Maximum number of lists in the side bar; ``/lists`` shows all lists."""


async def side_bar(request: web.Request, q: str = "") -> SideBar:
    """Return the navigation, with the current list marked."""
    navigation = await request.app[RUNTIME].navigation.read()
    current, is_whole = _list_shown(navigation.lists, q.strip().casefold())
    return SideBar(
        navigation.lists[:SHOWN],
        current,
        len(navigation.lists),
        is_whole=is_whole,
        tags=navigation.tags,
        unread=navigation.unread,
        current_url=f"{request.path}?q={q}" if q else request.path,
        can_render=not request.app[RUNTIME].crawling.browser_problem,
    )


def _list_shown(lists: Sequence[EntryList], query: str) -> tuple[EntryList | None, bool]:
    """Return the list that a query shows, and whether it includes nested lists."""
    if not query.startswith("list:"):
        lists = [each for each in lists if each.query]
    else:
        whole = next((each for each in lists if each.nested_search_query.casefold() == query), None)
        if whole:
            return whole, True
    return next((each for each in lists if each.search_query.casefold() == query), None), False


async def render_with_sidebar(
    request: web.Request, template: str, *, side: SideBar | None = None, **view: Any
) -> web.Response:
    """Render a page as ``render`` does, with the navigation and the progress of the crawl."""
    side = side or await side_bar(request)
    activity = await request.app[RUNTIME].navigation.activity()
    return render(request, template, side=side, activity=activity, **view)
