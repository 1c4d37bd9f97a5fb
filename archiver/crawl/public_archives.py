"""Asks public archives over Memento (RFC 7089), politely: where a page is, and for it as it was."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus

from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch_or_recall import ask
from archiver.crawl.retry_policy import retry_after_seconds
from archiver.errors import FetchError
from archiver.memento.archived import (
    MementoAddress,
    PublicMemento,
    moment_of,
    named_mementos,
    original_head,
    read_address,
)
from archiver.memento.timestamps import http_date, to_datetime
from archiver.model.exchange import Exchange
from archiver.model.failure import Failure, FailureKind
from archiver.net.outgoing import Outgoing
from archiver.urls.parse import host, join, redirect_target
from archiver.urls.surt import surt
from archiver.warc.extension import CREATION_DATE, HEAD, SOURCE_URI, SYNTHESISED, one_line
from archiver.wire.head import parse_head
from archiver.wire.moments import write_iso

MOST_STEPS = 6
"""Within an archive, from where it was asked to a memento."""
TRIES = 3
LONGEST_REST = 120.0
"""An archive that wants to be left alone for longer, in seconds, is waited for on disk."""
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class FoundMemento:
    """A memento as it was had.

    Attributes:
        exchange: as of the original, at its moment; the receiver closes its body.
        address: where it was, in its parts; None where they are of no form that is known.
        others: mementos that the archive named with it.
    """

    exchange: Exchange
    address: MementoAddress | None
    others: tuple[PublicMemento, ...]


async def locate(
    context: CrawlContext, gate: str, url: str, moment: datetime
) -> Sequence[PublicMemento]:
    """The mementos of a URL that a TimeGate leads to, and names, for a moment; none if it has none.

    Raises:
        FetchError: it can't be asked.
    """
    asked, headers = gate + url, (("Accept-Datetime", http_date(moment)),)
    found: list[PublicMemento] = []
    for _ in range(MOST_STEPS):
        exchange = await _ask(context, asked, headers)
        exchange.body.close()
        now = datetime.now(UTC)
        found += named_mementos(exchange.headers, asked, now)
        if at := moment_of(exchange.headers, now):
            stated = join(asked, exchange.header("content-location") or asked)
            return [PublicMemento(stated or asked, at), *found]
        target = redirect_target(asked, exchange.status, exchange.header("location"))
        if target is None:
            # pywb shows the memento in a frame, and names it.
            return found if exchange.status == HTTPStatus.OK else []
        if address := read_address(target):
            return [PublicMemento(target, to_datetime(address.timestamp)), *found]
        asked = target
    return []


async def fetch_memento(context: CrawlContext, asked: str, url: str) -> FoundMemento:
    """A memento of a URL, as its archive gives it at an address.

    Raises:
        FetchError: there is none, or it can't be had now.
    """
    for _ in range(MOST_STEPS):
        exchange = await _ask(context, asked, ())
        now = datetime.now(UTC)
        at = moment_of(exchange.headers, now)
        target = redirect_target(asked, exchange.status, exchange.header("location"))
        address = read_address(target) if target else None
        leads_on = address is not None and surt(address.url) != surt(url)
        if at and (target is None or address is None or leads_on):
            location = address.url if address else _location(url, exchange)
            others = tuple(named_mementos(exchange.headers, asked, now))
            return FoundMemento(
                _as_original(exchange, url, at, asked, location), read_address(asked), others
            )
        exchange.body.close()
        if target is None:
            raise FetchError(_without(asked, exchange.status))
        asked = address.raw if address else target
    message = f"{host(asked)} leads from one address to another, without end."
    raise FetchError(Failure(FailureKind.TOO_MANY_REDIRECTS, message))


async def _ask(context: CrawlContext, url: str, headers: tuple[tuple[str, str], ...]) -> Exchange:
    """One answer of an archive; where it says when to come again, that is waited for."""
    asked = Outgoing(url, headers=headers)  # led there by nobody: with nobody's cookies
    for left in reversed(range(TRIES)):
        exchange = await ask(context, asked, spaced=True, longest_rest=LONGEST_REST)
        rest = retry_after_seconds(
            exchange.status, exchange.header("retry-after"), datetime.now(UTC)
        )
        is_busy = exchange.status in _BUSY or exchange.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        if exchange.truncated:
            exchange.body.close()
            raise FetchError(Failure(FailureKind.DISCONNECTED, f"{host(url)} broke off."))
        if not is_busy or moment_of(exchange.headers, datetime.now(UTC)):
            return exchange
        exchange.body.close()
        if rest is None or not left:
            break
    message = f"{host(url)} answered {exchange.status}."
    raise FetchError(Failure(FailureKind.NOT_RESCUED, message, exchange.status, rest))


def _location(url: str, exchange: Exchange) -> str | None:
    """Where the original led, where the archive says so in the original's words."""
    return redirect_target(url, exchange.status, exchange.header("location"))


def _as_original(
    exchange: Exchange, url: str, at: datetime, source: str, location: str | None
) -> Exchange:
    """An archive's answer as a capture of what it is a memento of."""
    length = None if exchange.chunked else exchange.payload_length
    head = original_head(exchange.status, exchange.headers, length=length, location=location)
    parsed = parse_head(head)
    return replace(
        exchange,
        url=url,
        at=at,
        request=b"",
        head=head,
        headers=parsed.headers,
        fields=(
            (HEAD, SYNTHESISED),
            (SOURCE_URI, one_line(source)),
            (CREATION_DATE, write_iso(exchange.at)),
        ),
    )


def _without(asked: str, status: int) -> Failure:
    message = f"{host(asked)} does not have it (it answered {status})."
    return Failure(FailureKind.NOT_ARCHIVED, message)
