"""JSON requests and query parameters."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar
from urllib.parse import parse_qsl, urlencode

from aiohttp import web
from pydantic import ConfigDict, Field, ValidationError

from archiver.errors import InputError
from archiver.model.annotation import AnnotationChange, Colour
from archiver.model.imports import Choices
from archiver.model.listing import ListingQuery
from archiver.services.import_options import typed_choices
from archiver.services.lists import Where
from archiver.web.api.responses import adapter
from archiver.web.app_keys import LIMITS

MOST_URLS = 10_000
MOST_JOBS = 1_000
LISTED = ("q", "tag", "host", "status", "sort", "after")
"""What says which list is asked for, and which page of it."""
CHOSEN = ("folders_as", "to_read", "capture", "into")
"""What is chosen for an import by one word, or one path."""

_MOST_ID_DIGITS = 18
_NOTHING_ELSE = ConfigDict(extra="forbid")
"""Where saying nothing means all, a name that is misspelt is refused."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """URLs to keep, tags for all of them, and whether a browser is to show them, needed or not."""

    urls: Annotated[list[str], Field(min_length=1, max_length=MOST_URLS)]
    tags: Annotated[list[str], Field(max_length=100)] = field(default_factory=list)
    render: bool = False


@dataclass(frozen=True, slots=True)
class EditRequest:
    """What is to be said of an entry from now on; what is left out, or null, stays as it is."""

    title: str | None = None
    note: str | None = None
    tags: Annotated[list[str], Field(max_length=100)] | None = None
    folders: Annotated[list[str], Field(max_length=100)] | None = None
    is_read: bool | None = None
    is_starred: bool | None = None

    def change(self) -> AnnotationChange:
        """The same as the services take it."""
        return AnnotationChange(
            title=self.title,
            note=self.note,
            tags=None if self.tags is None else tuple(self.tags),
            lists=None if self.folders is None else tuple(self.folders),
            is_read=self.is_read,
            is_starred=self.is_starred,
        )


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A list to be made, by its path; or, with a query, a search to be saved under that name."""

    path: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class ListChange:
    """What becomes of a list: another path, or a place further up or down among those beside it."""

    path: str
    new_path: str | None = None
    shift: Literal["up", "down"] | None = None


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """Entries of a list, by hash_url or URL, and where in it they go."""

    path: str
    __pydantic_config__: ClassVar[ConfigDict] = _NOTHING_ELSE
    entries: Annotated[list[str], Field(min_length=1, max_length=MOST_JOBS)]
    where: Where


@dataclass(frozen=True, slots=True)
class FeedRequest:
    """A feed to be followed, or a page that names one; ``everything``: also what it holds now."""

    url: str
    tags: list[str] = field(default_factory=list)
    everything: bool = False


@dataclass(frozen=True, slots=True)
class HighlightRequest:
    """Words of an article to be marked; ``start`` is where they begin in its text."""

    quote: str
    start: int | None = None
    colour: Colour = Colour.YELLOW
    note: str = ""
    timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class HighlightChange:
    """What becomes of a highlight; what is left out, or null, stays as it is."""

    colour: Colour | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class AgainRequest:
    """Failures of which reason are to be tried again; of every reason, if none is given."""

    __pydantic_config__: ClassVar[ConfigDict] = _NOTHING_ELSE
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RescueRequest:
    """Pages to ask public archives for: by hash_url or URL, all that a search finds, or all gone.

    ``entries`` and ``query`` are not both given. An empty one is refused: who found nothing does
    not mean everything.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _NOTHING_ELSE
    entries: Annotated[list[str], Field(min_length=1, max_length=MOST_JOBS)] | None = None
    query: Annotated[str, Field(pattern=r"\S")] | None = None


async def read_json(request: web.Request, shape: type[_T]) -> _T:
    """Read the body.

    Raises:
        web.HTTPUnsupportedMediaType: it is not sent as JSON.
        InputError: it is not JSON, or not of the shape; the message says where.
    """
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="Send the body as application/json.")
    async with asyncio.timeout(request.app[LIMITS].body_seconds):
        body = await request.read()
    try:
        value: _T = adapter(shape).validate_json(body, strict=True)
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"The body is wrong{' at ' + where if where else ''}: {first['msg']}."
        ) from None
    return value


def number(request: web.Request, name: str, default: int) -> int:
    """Read a whole number from the query.

    Raises:
        InputError: it is none.
    """
    text = request.query.get(name)
    return default if text is None else _whole(name, text)


def numbers(request: web.Request, name: str) -> list[int]:
    """Read whole numbers, separated by commas, from the query; at most 1,000.

    Raises:
        InputError: one is none, or they are too many.
    """
    words = [word for word in request.query.get(name, "").split(",") if word.strip()]
    if len(words) > MOST_JOBS:
        raise InputError(f"{name} may name {MOST_JOBS:,} at most.")
    return [_whole(name, word.strip()) for word in words]


def listing_query(request: web.Request) -> ListingQuery:
    """Read what a list is narrowed to, from the query."""
    asked = request.query
    q, tag, host, status, sort, after = (asked.get(name, "") for name in LISTED)
    return ListingQuery(q, tag, host, status, sort, after)


def listed_query(text: str) -> ListingQuery:
    """Read which list something was opened from: a query string, as ``list_query`` writes it."""
    asked = dict(parse_qsl(text, max_num_fields=20)) if text.count("&") < 20 else {}
    q, tag, host, status, sort, after = (asked.get(name, "") for name in LISTED)
    return ListingQuery(q, tag, host, status, sort, after)


def chosen(request: web.Request) -> Choices:
    """Read what is chosen for an import, from the query; tags may have commas between them.

    Raises:
        InputError: a word is none of those that there are.
    """
    asked = request.query
    return typed_choices(
        tags=",".join(asked.getall("tags", [])).split(","),
        words={name: asked.get(name, "") for name in CHOSEN},
        only_folders=asked.getall("only_folder", []),
        columns=asked.getall("column", []),
    )


def list_query(query: ListingQuery) -> str:
    """Write which page of which list is asked for, as a query string; never empty."""
    kept = {name: value for name in LISTED if (value := getattr(query, name))}
    return urlencode(kept or {"sort": "newest"})


def path_number(request: web.Request, name: str) -> int:
    """Read a whole number from the path, which the route holds to digits."""
    return _whole(name, request.match_info[name])


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_ID_DIGITS):
        raise InputError(f"{name} must be a whole number.")
    return int(text)
