"""Mapping of network errors to failures."""

import os

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientError,
    ClientSSLError,
    InvalidURL,
)

from archiver.config import CONNECT_SECONDS, Settings
from archiver.errors import FetchError, InvalidResponse
from archiver.http.address_guard import BlockedAddressError
from archiver.http.urls import host
from archiver.model.failure import Failure, FailureKind

RAISED = (TimeoutError, InvalidResponse, ClientError, OSError, ValueError)
"""Exceptions that the network and aiohttp raise."""


def fetch_error(url: str, settings: Settings, error: Exception) -> FetchError:
    """Convert an exception of ``RAISED`` to a ``FetchError``."""
    if isinstance(error, TimeoutError):
        return FetchError(
            Failure(
                FailureKind.TIMEOUT,
                f"{host(url)} did not respond in time (limits: {CONNECT_SECONDS:g} s to "
                f"connect, {settings.read_timeout:g} s without data, {settings.fetch_timeout:g} "
                "s in total).",
            )
        )
    if isinstance(error, InvalidResponse):
        message = f"{host(url)} did not respond with valid HTTP: {error}"
        return FetchError(Failure(FailureKind.PROTOCOL, message))
    return FetchError(_failure(url, error))


def truncated_response(url: str) -> Failure:
    """Return the failure of a truncated response."""
    message = f"{host(url)} closed the connection before the response was complete."
    return Failure(FailureKind.DISCONNECTED, message)


def pause_too_long(host: str, seconds: float) -> FetchError:
    """Return the error of a host that requested a longer pause than the caller waits for."""
    message = f"{host} asked for a pause between requests (Retry-After)."
    return FetchError(Failure(FailureKind.RESTING, message, retry_after=seconds))


def too_large(url: str, limit: int) -> FetchError:
    """Return the error of a response of more than ``limit`` bytes."""
    return FetchError(
        Failure(
            FailureKind.TOO_LARGE,
            f"The response of {host(url)} is larger than {limit:,} bytes. Raise "
            "“Largest file” in Settings to allow it.",
        )
    )


def _failure(url: str, error: Exception) -> Failure:
    name = host(url)
    cause = getattr(error, "os_error", error)
    if isinstance(cause, BlockedAddressError):
        return Failure(
            FailureKind.BLOCKED_ADDRESS,
            f"{cause}. To allow it, add its network, such as {cause.network}, to "
            "“Private networks” in Settings.",
        )
    kind, message = truncated_response(url).kind, truncated_response(url).message
    match error:
        case ClientConnectorDNSError():
            kind, message = (
                FailureKind.DNS,
                f"Cannot resolve the name {name}. The domain may not exist any more.",
            )
        case ClientConnectorCertificateError():
            reason = getattr(error.certificate_error, "verify_message", "") or str(error)
            kind, message = FailureKind.TLS, f"The certificate of {name} is not valid: {reason}."
        case ClientSSLError():
            kind, message = FailureKind.TLS, f"Cannot make a secure connection to {name}."
        case ClientConnectorError():
            number = error.os_error.errno
            reason = os.strerror(number) if number else "no connection"
            kind, message = FailureKind.REFUSED, f"Cannot connect to {name}: {reason}."
        case InvalidURL() | ValueError():
            kind, message = FailureKind.INVALID_URL, f"Cannot request {url}."
    return Failure(kind, message)
