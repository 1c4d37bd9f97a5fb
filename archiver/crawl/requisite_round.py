"""The requisites of one page: what is wanted, level by level, and what became of it."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from archiver.html.parts import MOST_PARTS
from archiver.model.capture import Capture
from archiver.model.failure import Failure, FailureKind
from archiver.model.requisite import Requisite, RequisiteKind, RequisiteOutcome
from archiver.net.outgoing import led_on

MAX_DEPTH = 4
"""Style sheets import style sheets, frames hold frames: so many levels below the page."""
NESTED = frozenset({RequisiteKind.STYLE, RequisiteKind.FRAME, RequisiteKind.PART})


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one URL: a status or a failure, and what it needs in its turn.

    ``through``: the hosts by which it was had, its redirects' too: they lead to what it needs.
    ``turns_lines``: it is a sheet that sets text from top to bottom.
    """

    status: int | None
    failure: Failure | None
    needs: tuple[Requisite, ...]
    until: datetime
    through: frozenset[str] = frozenset()
    turns_lines: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A requisite of a page, so many levels below it, and the hosts that led to it."""

    requisite: Requisite
    depth: int
    led_by: frozenset[str]


class Round:
    """The requisites of one page: what is still to be taken, and what became of the rest.

    Attributes:
        held: the captures that there are already of what the page needs, by URL.
    """

    held: dict[str, Capture]

    def __init__(self, page_url: str, limit: int) -> None:
        self.page_url = page_url
        self.outcomes: OrderedDict[str, RequisiteOutcome] = OrderedDict()
        self.held = {}
        self._limit = limit
        self._waiting: deque[Wanted] = deque()
        self._seen = {page_url: Requisite(page_url, RequisiteKind.OTHER)}
        self._parts = 0
        self._busy = 0
        self._change = asyncio.Event()

    def recorded(self) -> Iterator[RequisiteOutcome]:
        """The outcomes, but for emblems of which there is no capture."""
        for outcome in self.outcomes.values():
            if outcome.status is not None or not outcome.is_emblem:
                yield outcome

    def add(self, wanted: Sequence[Wanted]) -> None:
        """Take in what is wanted besides: each once, and no more than a page may need."""
        for one in wanted:
            each = one.requisite
            if each.url in self._seen or len(self._seen) > 2 * self._limit:
                continue
            self._seen[each.url] = each
            self._parts += each.kind is RequisiteKind.PART
            if len(self._seen) > self._limit + 1:
                message = f"The page needs more than {self._limit} things; this was left out."
                self._leave_out(each, Failure(FailureKind.TOO_LARGE, message))
            elif each.kind is RequisiteKind.PART and self._parts >= MOST_PARTS:
                message = f"The article has more than {MOST_PARTS} parts; the rest was left out."
                self._leave_out(each, Failure(FailureKind.TOO_LARGE, message))
            else:
                self._waiting.append(one)
        self._change.set()

    async def take(self) -> Wanted | None:
        """The next one, or None once there will be none."""
        while not self._waiting:
            if not self._busy:
                self._change.set()
                return None
            self._change.clear()
            await self._change.wait()
        self._busy += 1
        return self._waiting.popleft()

    def finished(self) -> None:
        """One that was taken has its outcome."""
        self._busy -= 1
        self._change.set()

    def give_up(self, message: str, kind: FailureKind) -> None:
        """Give every one that has no outcome yet the same one."""
        for url, wanted in self._seen.items():
            if url != self.page_url and url not in self.outcomes:
                self._leave_out(wanted, Failure(kind, message))

    def _leave_out(self, wanted: Requisite, failure: Failure) -> None:
        self.outcomes[wanted.url] = RequisiteOutcome(
            wanted.url,
            wanted.kind,
            failure=failure,
            area=wanted.area,
            is_emblem=wanted.is_emblem,
        )


def below(wanted: Wanted, result: Result) -> list[Wanted]:
    """What a requisite needs in its turn; the next part of an article is no deeper."""
    depth = wanted.depth if wanted.requisite.kind is RequisiteKind.PART else wanted.depth + 1
    led_by = led_on(wanted.led_by, result.through)
    return [Wanted(each, depth, led_by) for each in result.needs]


def of_the_same(wanted: Requisite, needs: tuple[Requisite, ...]) -> tuple[Requisite, ...]:
    """What a requisite needs in its turn; the article of a page in a frame goes on by itself."""
    if wanted.kind is RequisiteKind.PART:
        return needs
    return tuple(each for each in needs if each.kind is not RequisiteKind.PART)
