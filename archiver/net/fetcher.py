"""Fetches one URL over a long-lived pool of connections: what crossed the wire comes home."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Self, cast

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientError,
    ClientSession,
    ClientSSLError,
    ClientTimeout,
    DummyCookieJar,
    InvalidURL,
    TCPConnector,
    hdrs,
)
from aiohttp.abc import AbstractResolver
from yarl import URL

from archiver.config import Settings
from archiver.errors import FetchError, InvalidResponse
from archiver.model.exchange import Exchange
from archiver.model.failure import Failure, FailureKind
from archiver.net.body import BodySink
from archiver.net.guard import AddressGuard, BlockedAddressError, GuardedResolver
from archiver.net.tap import TappedResponse, tap_connections
from archiver.urls.parse import host
from archiver.wire.coding import ACCEPT_ENCODING

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CONNECTIONS_A_PAGE = 4
MOST_CONNECTIONS = 8192
KEEP_ALIVE_SECONDS = 20


class Fetcher:
    """The network side of one process; an async context manager."""

    def __init__(self, settings: Settings, resolver: AbstractResolver | None = None) -> None:
        self._settings = settings
        self._guard = AddressGuard(settings.allow_networks)
        self._resolver = GuardedResolver(self._guard, resolver)
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        settings = self._settings
        connector = TCPConnector(
            resolver=self._resolver,
            limit=min(settings.concurrency * CONNECTIONS_A_PAGE, MOST_CONNECTIONS),
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        tap_connections(connector)
        self._session = ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            response_class=TappedResponse,
            raise_for_status=False,
            timeout=ClientTimeout(
                total=settings.fetch_timeout,
                sock_connect=settings.connect_timeout,
                sock_read=settings.read_timeout,
            ),
            headers={
                hdrs.USER_AGENT: settings.user_agent,
                hdrs.ACCEPT: ACCEPT,
                hdrs.ACCEPT_ENCODING: ACCEPT_ENCODING,
                hdrs.ACCEPT_LANGUAGE: "en,*;q=0.5",
            },
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session:
            await self._session.close()
            self._session = None
        await self._resolver.close()

    async def fetch(self, url: str, *, referer: str | None = None) -> Exchange:
        """Request a serialised http(s) URL once; redirects are not followed.

        Raises:
            FetchError: no whole response could be had; its failure says why.
        """
        if self._session is None:
            raise RuntimeError("the fetcher is not open")
        headers = {hdrs.REFERER: referer} if referer else None
        with _failures(url, self._settings):
            target = URL(url, encoded=True)
            self._check_literal(target)
            at = datetime.now(UTC).replace(microsecond=0)
            async with self._session.get(
                target, headers=headers, allow_redirects=False
            ) as response:
                return await self._receive(url, at, cast("TappedResponse", response))

    async def _receive(self, url: str, at: datetime, response: TappedResponse) -> Exchange:
        if not self._guard.permits(response.peer):
            raise BlockedAddressError(host(url), response.peer)
        reader, head = response.reader, response.reader.head
        if head is None:
            raise InvalidResponse("The response has no head.")
        sink = BodySink()
        try:
            await self._stream(url, response, sink)
            body, digest = await sink.finish()
        except BaseException:
            sink.discard()
            raise
        return Exchange(
            url=url,
            at=at,
            ip=response.peer,
            request=_request_bytes(response),
            head=reader.head_bytes,
            body=body,
            chunked=reader.is_chunked,
            status=head.status,
            headers=head.headers,
            payload_digest=digest,
            payload_length=sink.payload_length,
            truncated=reader.truncation,
        )

    async def _stream(self, url: str, response: TappedResponse, sink: BodySink) -> None:
        reader, limit = response.reader, self._settings.max_body_bytes
        if (reader.content_length or 0) > limit:
            raise _too_large(url, limit)
        async for wire in response.content.iter_any():
            await sink.take(wire, reader.take_payload() if reader.is_chunked else wire)
            if max(sink.payload_length, sink.wire_length) > limit:
                raise _too_large(url, limit)
        await sink.take(b"", reader.take_payload())
        if reader.truncation and not sink.payload_length:
            raise FetchError(_broken_off(url))

    def _check_literal(self, url: URL) -> None:
        """Names go through the resolver; addresses written as such do not."""
        name = url.raw_host or ""
        if (":" in name or name.replace(".", "").isdecimal()) and not self._guard.permits(name):
            raise BlockedAddressError(name, name)


def _request_bytes(response: TappedResponse) -> bytes:
    """The request as aiohttp wrote it."""
    info = response.request_info
    lines = [f"{info.method} {info.url.raw_path_qs} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in info.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def _failures(url: str, settings: Settings) -> Iterator[None]:
    """Turn what the network and its library raise into a ``FetchError``."""
    try:
        yield
    except TimeoutError as error:
        raise FetchError(
            Failure(
                FailureKind.TIMEOUT,
                f"{host(url)} did not answer in time (connection {settings.connect_timeout:g} s, "
                f"silence {settings.read_timeout:g} s, in all {settings.fetch_timeout:g} s).",
            )
        ) from error
    except InvalidResponse as error:
        message = f"What {host(url)} answered is not HTTP: {error}"
        raise FetchError(Failure(FailureKind.PROTOCOL, message)) from error
    except (ClientError, OSError, ValueError) as error:
        raise FetchError(_failure(url, error)) from error


def _failure(url: str, error: Exception) -> Failure:
    name = host(url)
    cause = getattr(error, "os_error", error)
    if isinstance(cause, BlockedAddressError):
        return Failure(
            FailureKind.BLOCKED_ADDRESS,
            f"{cause}. Name its network in ARCHIVER_ALLOW_NETWORKS to allow it.",
        )
    kind, message = _broken_off(url).kind, _broken_off(url).message
    match error:
        case ClientConnectorDNSError():
            kind, message = FailureKind.DNS, f"The name {name} can't be resolved."
        case ClientConnectorCertificateError():
            reason = getattr(error.certificate_error, "verify_message", "") or str(error)
            kind, message = FailureKind.TLS, f"The certificate of {name} is not valid: {reason}."
        case ClientSSLError():
            kind, message = FailureKind.TLS, f"No secure connection to {name} could be made."
        case ClientConnectorError():
            number = error.os_error.errno
            reason = os.strerror(number) if number else "no connection"
            kind, message = FailureKind.REFUSED, f"{name} can't be reached: {reason}."
        case InvalidURL() | ValueError():
            kind, message = FailureKind.INVALID_URL, f"{url} can't be requested."
    return Failure(kind, message)


def _broken_off(url: str) -> Failure:
    message = f"{host(url)} broke off before its answer was complete."
    return Failure(FailureKind.DISCONNECTED, message)


def _too_large(url: str, limit: int) -> FetchError:
    return FetchError(
        Failure(
            FailureKind.TOO_LARGE,
            f"The response of {host(url)} is larger than {limit:,} bytes. "
            "ARCHIVER_MAX_BODY_BYTES raises the limit.",
        )
    )
