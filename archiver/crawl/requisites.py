"""Fetching of page requisites."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import fetch, read_back
from archiver.crawl.visit_result import FetchedResponse
from archiver.db import captures, tombstones
from archiver.db.engine import AsyncConnection
from archiver.errors import FetchError
from archiver.http.cookies import VisitCookies
from archiver.http.media_types import MediaType, as_style, is_css
from archiver.http.requests import Outgoing, with_initiators
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import host
from archiver.model.capture import Capture, Timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.requisite import Requisite, RequisiteKind, RequisiteOutcome
from archiver.pages.article.multipage import MAX_PARTS
from archiver.pages.writing_modes import PROPERTY, sets_vertical_mode

MAX_SHEETS = 24
"""Maximum number of style sheets of a page that are checked."""
MAX_BYTES = 256 << 10
"""Maximum size of a style sheet that is checked."""


def vertical_rules(found: FetchedResponse) -> str:
    """Return a style sheet if it sets vertical text, else an empty string.

    It is decoded as UTF-8; names in another encoding would select nothing anyway.
    """
    if not is_css(found.media_type) or PROPERTY.encode() not in found.content:
        return ""
    css = found.content[:MAX_BYTES].decode("utf-8", "replace")
    return css if sets_vertical_mode(css) else ""


async def vertical_sheets(
    context: CrawlContext, outcomes: Iterable[RequisiteOutcome], timestamp: Timestamp
) -> tuple[tuple[str, str], ...]:
    """Return the stored style sheets of a page that set vertical text.

    Raises:
        StoreError: the index can't be read.
    """
    kept = [each for each in outcomes if each.kind is RequisiteKind.STYLE and not each.is_missing]
    sheets = []
    for each in kept[:MAX_SHEETS]:
        found = await read_nearest(context, each.url, timestamp)
        if css := vertical_rules(found) if found else "":
            sheets.append((each.url, css))
    return tuple(sheets)


async def read_nearest(
    context: CrawlContext, url: str, timestamp: Timestamp
) -> FetchedResponse | None:
    """Return the stored response of a URL nearest to a time, following redirects.

    Raises:
        StoreError: the index can't be read.
    """
    for _ in range(context.settings.max_redirects + 1):
        async with context.db.read() as conn:
            held = await captures.nearest(conn, url, timestamp, exact_only=True)
        found = await read_back(context, held) if held else None
        if found is None or found.redirect_to is None:
            return found
        url = found.redirect_to
    return None


MAX_DEPTH = 4
"""Maximum nesting depth of style sheets and frames below the page."""
NESTED = frozenset({RequisiteKind.STYLE, RequisiteKind.FRAME, RequisiteKind.PART})


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome for one URL: a status or a failure, and its own requisites.

    ``through``: hosts of the request and its redirects, which led to its requisites.
    ``sets_vertical``: a style sheet that sets vertical text.
    """

    status: int | None
    failure: Failure | None
    needs: tuple[Requisite, ...]
    until: datetime
    through: frozenset[str] = frozenset()
    sets_vertical: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Requisite of a page with its depth and the hosts that led to it."""

    requisite: Requisite
    depth: int
    initiators: frozenset[str]


class Round:
    """Requisites of one page: waiting ones and outcomes.

    Attributes:
        held: stored captures of the page's requisites, by URL.
        jar: the cookies set during the visit.
    """

    held: dict[str, Capture]

    def __init__(self, page_url: str, limit: int, jar: VisitCookies | None = None) -> None:
        self.page_url = page_url
        self.jar = jar
        self.outcomes: OrderedDict[str, RequisiteOutcome] = OrderedDict()
        self.held = {}
        self._limit = limit
        self._waiting: deque[Wanted] = deque()
        self._seen = {page_url: Requisite(page_url, RequisiteKind.OTHER)}
        self._parts = 0
        self._busy = 0
        self._change = asyncio.Event()

    def recorded(self) -> Iterator[RequisiteOutcome]:
        """Iterate over the outcomes, except icons and preview images without a capture."""
        for outcome in self.outcomes.values():
            if outcome.status is not None or not outcome.is_preview_image:
                yield outcome

    def add(self, wanted: Sequence[Wanted]) -> None:
        """Add requisites without duplicates, up to the page's limit."""
        for one in wanted:
            each = one.requisite
            if each.url in self._seen or len(self._seen) > 2 * self._limit:
                continue
            self._seen[each.url] = each
            self._parts += each.kind is RequisiteKind.PART
            if len(self._seen) > self._limit + 1:
                message = f"The page needs more than {self._limit} resources; this one was skipped."
                self._leave_out(each, Failure(FailureKind.TOO_LARGE, message))
            elif each.kind is RequisiteKind.PART and self._parts >= MAX_PARTS:
                message = f"The article has more than {MAX_PARTS} pages; the rest was skipped."
                self._leave_out(each, Failure(FailureKind.TOO_LARGE, message))
            else:
                self._waiting.append(one)
        self._change.set()

    async def take(self) -> Wanted | None:
        """Return the next one, or None once there are no more."""
        while not self._waiting:
            if not self._busy:
                self._change.set()
                return None
            self._change.clear()
            await self._change.wait()
        self._busy += 1
        return self._waiting.popleft()

    def finished(self) -> None:
        """Record that a taken requisite has its outcome."""
        self._busy -= 1
        self._change.set()

    def give_up(self, message: str, kind: FailureKind) -> None:
        """Give all requisites without an outcome the same failure."""
        for url, wanted in self._seen.items():
            if url != self.page_url and url not in self.outcomes:
                self._leave_out(wanted, Failure(kind, message))

    def _leave_out(self, wanted: Requisite, failure: Failure) -> None:
        self.outcomes[wanted.url] = RequisiteOutcome(
            wanted.url,
            wanted.kind,
            failure=failure,
            area=wanted.area,
            is_preview_image=wanted.is_preview_image,
        )


def nested_requisites(wanted: Wanted, result: Result) -> list[Wanted]:
    """Return nested requisites; the next part of an article has the same depth."""
    depth = wanted.depth if wanted.requisite.kind is RequisiteKind.PART else wanted.depth + 1
    initiators = with_initiators(wanted.initiators, result.through)
    return [Wanted(each, depth, initiators) for each in result.needs]


def of_same_page(wanted: Requisite, needs: tuple[Requisite, ...]) -> tuple[Requisite, ...]:
    """Return nested requisites; further article parts are followed only from the page itself."""
    if wanted.kind is RequisiteKind.PART:
        return needs
    return tuple(each for each in needs if each.kind is not RequisiteKind.PART)


AT_ONCE = 6
"""Concurrent requisites of one page, as browsers do for one host."""
REMEMBERED_BYTES = 16 << 20
FAILED_SECONDS = 600
"""Time before a failed requisite is requested again."""
PREVIEW_IMAGE_SECONDS = 86400
"""Minimum time before a host's icon or preview image is requested again."""


Get = Callable[[Outgoing], Awaitable[FetchedResponse]]
"""Function that fetches a requisite; raises ``FetchError`` on failure."""


class Requisites:
    """Fetching of requisites with a cache shared by all pages.

    ``get`` fetches a requisite; by default from its host.
    """

    def __init__(self, context: CrawlContext, get: Get | None = None) -> None:
        self._context = context
        self._get = get or partial(fetch, context)
        self._under_way: dict[str, _Shared] = {}
        self._known: OrderedDict[str, Result] = OrderedDict()
        self._known_bytes = 0
        self._deletions = 0

    async def fetch_all(
        self,
        page_url: str,
        wanted: tuple[Requisite, ...],
        initiators: frozenset[str] = frozenset(),
        jar: VisitCookies | None = None,
    ) -> tuple[RequisiteOutcome, ...]:
        """Fetch a page's requisites and nested ones; return their outcomes.

        Never raises for a requisite: failures, timeouts and excess requisites are outcomes.

        Args:
            page_url: URL of the page.
            wanted: direct requisites.
            initiators: hosts that led to the page, including its own.
            jar: the cookies set during the visit.
        """
        round_ = Round(page_url, self._context.settings.max_requisites, jar)
        await self._add(round_, [Wanted(each, 0, initiators) for each in wanted])
        try:
            async with asyncio.timeout(self._context.settings.page_timeout):
                async with asyncio.TaskGroup() as group:
                    for _ in range(AT_ONCE):
                        group.create_task(self._work(round_))
        except TimeoutError:
            round_.give_up(
                ("The page took too long; this resource was skipped."), FailureKind.TIMEOUT
            )
        return tuple(round_.recorded())

    def has_vertical_sheet(self, outcomes: Iterable[RequisiteOutcome]) -> bool:
        """Return whether one of the fetched requisites is a style sheet that sets vertical text."""
        known = (self._known.get(each.url) for each in outcomes)
        return any(each.sets_vertical for each in known if each)

    async def _work(self, round_: Round) -> None:
        while True:
            taken = await round_.take()
            if taken is None:
                return
            wanted = taken.requisite
            try:
                result = await self._obtain(taken, round_)
                round_.outcomes[wanted.url] = RequisiteOutcome(
                    wanted.url,
                    wanted.kind,
                    result.status,
                    result.failure,
                    wanted.area,
                    wanted.is_preview_image,
                )
                if result.needs and taken.depth < MAX_DEPTH:
                    await self._add(round_, nested_requisites(taken, result))
            finally:
                round_.finished()

    async def _add(self, round_: Round, wanted: Sequence[Wanted]) -> None:
        """Add to a page's requisites, after one query for stored captures."""
        if not wanted:
            return
        async with self._context.db.read() as conn:
            self._forget_deleted(await tombstones.count(conn))
            unknown = [each.requisite for each in wanted if each.requisite.url not in self._known]
            for is_preview_image in (False, True):
                urls = [each.url for each in unknown if each.is_preview_image is is_preview_image]
                round_.held |= await self._held(conn, urls, is_preview_image=is_preview_image)
        round_.add(wanted)

    async def _held(
        self, conn: AsyncConnection, urls: Sequence[str], *, is_preview_image: bool
    ) -> dict[str, Capture]:
        """Return stored captures that can be used without a request."""
        max_age = self._max_age(is_preview_image=is_preview_image)
        since = to_timestamp(datetime.now(UTC) - timedelta(seconds=max_age))
        held = await captures.recent_of(conn, urls if max_age else [], since)
        # An earlier error may be fixed by now.
        return {url: each for url, each in held.items() if is_preview_image or each.status < 400}

    def _max_age(self, *, is_preview_image: bool) -> float:
        """Return the seconds for which a stored capture is used without a request."""
        max_age = self._context.settings.requisite_max_age
        return max(max_age, PREVIEW_IMAGE_SECONDS) if is_preview_image else max_age

    def _forget_deleted(self, deletions: int) -> None:
        """Clear the cache after any deletion."""
        if deletions != self._deletions:
            self._deletions = deletions
            self._known.clear()
            self._known_bytes = 0

    async def _obtain(self, wanted: Wanted, round_: Round) -> Result:
        url = wanted.requisite.url
        known = self._known.get(url)
        if known and _holds(known, wanted.requisite):
            return known
        if held := self._reused_without_content(wanted.requisite, round_):
            return held
        shared = self._under_way.get(url)
        if shared is None:
            shared = _Shared(asyncio.create_task(self._look(wanted, round_)))
            self._under_way[url] = shared
        return await self._share(url, shared)

    async def _share(self, url: str, shared: "_Shared") -> Result:
        """Wait for a shared fetch; it is cancelled only when the last waiter leaves."""
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting:
                del self._under_way[url]
                await shared.stop()

    def _reused_without_content(self, wanted: Requisite, round_: Round) -> Result | None:
        """Return the stored capture's outcome, if its content is not needed."""
        held = round_.held.get(wanted.url)
        if held is None or held.redirect_to is not None or wanted.kind in NESTED:
            return None
        until = datetime.now(UTC) + timedelta(
            seconds=self._max_age(is_preview_image=wanted.is_preview_image)
        )
        result = Result(held.status, None, (), until)
        self._remember(wanted.url, result)
        return result

    async def _look(self, wanted: Wanted, round_: Round) -> Result:
        result = await self._find(wanted.requisite, round_, wanted.initiators)
        self._remember(wanted.requisite.url, result)
        return result

    async def _find(self, wanted: Requisite, round_: Round, initiators: frozenset[str]) -> Result:
        now, lasts = datetime.now(UTC), self._max_age(is_preview_image=wanted.is_preview_image)
        until = now + timedelta(seconds=lasts)
        held = round_.held.get(wanted.url)
        try:
            referer = (("Referer", round_.page_url),)
            asked = Outgoing(wanted.url, headers=referer, initiators=initiators, jar=round_.jar)
            found, through = await self._follow(
                asked, held, is_preview_image=wanted.is_preview_image
            )
        except FetchError as error:
            again = now + timedelta(seconds=lasts if wanted.is_preview_image else FAILED_SECONDS)
            return Result(None, error.failure, (), again)
        needs: tuple[Requisite, ...] = ()
        if wanted.kind in NESTED and found.content:
            document = found.document
            if wanted.kind is RequisiteKind.STYLE:
                kind = as_style(MediaType(document.media_type), document.payload)
                document = replace(document, media_type=kind.essence)
            discovery = await self._context.derive.discover(document)
            needs = of_same_page(wanted, discovery.requisites)
        sets_vertical = bool(vertical_rules(found))
        return Result(found.ref.status, None, needs, until, through, sets_vertical)

    async def _follow(
        self, asked: Outgoing, held: Capture | None, *, is_preview_image: bool
    ) -> tuple[FetchedResponse, frozenset[str]]:
        """Return the last response and the hosts of all; stored redirects are used if possible."""
        through = frozenset[str]()
        for _ in range(self._context.settings.max_redirects + 1):
            through |= {host(asked.url)}
            found = await read_back(self._context, held) if held else None
            if found is None:
                initiators = with_initiators(asked.initiators, through)
                is_led = initiators == asked.initiators
                found = await self._get(asked if is_led else replace(asked, initiators=initiators))
            if found.redirect_to is None:
                return found, through
            asked = replace(asked, url=found.redirect_to)
            if held:
                async with self._context.db.read() as conn:
                    known = await self._held(conn, [asked.url], is_preview_image=is_preview_image)
                held = known.get(asked.url)
        raise FetchError(
            Failure(FailureKind.TOO_MANY_REDIRECTS, f"{asked.url} redirects too many times.")
        )

    def _remember(self, url: str, result: Result) -> None:
        self._forget(url)
        self._known[url] = result
        self._known_bytes += _weight(url, result)
        while self._known_bytes > REMEMBERED_BYTES:
            self._forget(next(iter(self._known)))

    def _forget(self, url: str) -> None:
        result = self._known.pop(url, None)
        if result:
            self._known_bytes -= _weight(url, result)


def _holds(known: Result, wanted: Requisite) -> bool:
    """Return whether a cached outcome is still valid.

    Failures of icons and preview images stay valid for longer than those of other requisites.
    """
    now = datetime.now(UTC)
    if known.failure and not wanted.is_preview_image:
        return now < known.until <= now + timedelta(seconds=FAILED_SECONDS)
    return known.until > now


@dataclass(slots=True)
class _Shared:
    """Active fetch and the number of pages that wait for it."""

    task: asyncio.Task[Result]
    waiting: int = 0

    async def stop(self) -> None:
        """Cancel the fetch and retrieve its exception, which waiters have already received."""
        if self.task.cancel():
            await asyncio.wait([self.task])
        if not self.task.cancelled():
            self.task.exception()


def _weight(url: str, result: Result) -> int:
    """Return the approximate memory size of a cached outcome."""
    return 512 + len(url) + sum(256 + len(each.url) for each in result.needs)
