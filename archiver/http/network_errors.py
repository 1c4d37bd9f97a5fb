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

from archiver.config import Settings
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
                f"{host(url)} did not answer in time (connection {settings.connect_timeout:g} s, "
                f"silence {settings.read_timeout:g} s, in all {settings.fetch_timeout:g} s).",
            )
        )
    if isinstance(error, InvalidResponse):
        message = f"What {host(url)} answered is not HTTP: {error}"
        return FetchError(Failure(FailureKind.PROTOCOL, message))
    return FetchError(_failure(url, error))


def truncated_response(url: str) -> Failure:
    """Return the failure of a truncated response."""
    message = f"{host(url)} broke off before its answer was complete."
    return Failure(FailureKind.DISCONNECTED, message)


def pause_too_long(host: str, seconds: float) -> FetchError:
    """Return the error of a host that requested a longer pause than the caller waits for."""
    message = f"{host} asked to be left alone for a while."
    return FetchError(Failure(FailureKind.RESTING, message, retry_after=seconds))


def too_large(url: str, limit: int) -> FetchError:
    """Return the error of a response of more than ``limit`` bytes."""
    return FetchError(
        Failure(
            FailureKind.TOO_LARGE,
            f"The response of {host(url)} is larger than {limit:,} bytes. "
            "ARCHIVER_MAX_BODY_BYTES raises the limit.",
        )
    )


def _failure(url: str, error: Exception) -> Failure:
    name = host(url)
    cause = getattr(error, "os_error", error)
    if isinstance(cause, BlockedAddressError):
        return Failure(
            FailureKind.BLOCKED_ADDRESS,
            f"{cause}. To allow it name its network, such as {cause.network}, in "
            "ARCHIVER_ALLOW_NETWORKS, or behind the command with --allow-networks.",
        )
    kind, message = truncated_response(url).kind, truncated_response(url).message
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
