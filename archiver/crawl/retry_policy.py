"""Failures of responses, and the times of retries."""

from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from archiver.config import MAX_RETRY_AFTER, Settings
from archiver.http.urls import host
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Lease

BACKOFF = 6
"""Factor by which each further retry delay grows."""


def retry_at(failure: Failure, lease: Lease, settings: Settings, now: datetime) -> datetime | None:
    """Return the time of the next attempt, or None if there is none."""
    if not failure.transient or lease.attempts >= settings.retries:
        return None
    requested = failure.retry_after or 0.0
    if requested > MAX_RETRY_AFTER:
        return None
    delay = settings.retry_delay * BACKOFF**lease.attempts
    return now + timedelta(seconds=max(delay, requested))


def retry_after_seconds(status: int, value: str | None, now: datetime) -> float | None:
    """Return the pause that a 429 or 503 response asks for (RFC 9110 §10.2.3), in seconds.

    Args:
        status: status of the response.
        value: value of its ``Retry-After`` header.
        now: current time (aware).
    """
    if status not in (429, 503) or not value:
        return None
    if value.strip().isdecimal():
        return float(value.strip()[:9])
    try:
        moment = parsedate_to_datetime(value)
        return max((moment - now).total_seconds(), 0.0) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def status_failure(status: int, retry_after: float | None) -> Failure | None:
    """Return the failure for the status of a response, or None for a success with content."""
    if status in (204, 205):
        return Failure(
            FailureKind.NOT_A_PAGE,
            f"The server responded with {status} and without content.",
            status,
        )
    if 200 <= status < 300:
        return None
    return Failure(
        FailureKind.HTTP_STATUS,
        f"The server responded with {status} {reason_phrase(status)}".strip() + ".",
        status,
        retry_after,
    )


def walled(url: str, guard: str) -> Failure:
    """Return the failure for a page replaced by a bot wall."""
    return Failure(
        FailureKind.WALLED,
        f"{host(url)} shows a CAPTCHA or bot check ({guard}) instead of the page. Open the page "
        "in your browser, save it (for example as WACZ with ArchiveWeb.page), and upload the "
        "file.",
    )


def parked(url: str, dealer: str) -> Failure:
    """Return the failure for a page replaced by a domain sale offer."""
    message = f"{host(url)} is for sale: {dealer} shows an offer instead of the page."
    return Failure(FailureKind.PARKED, message)


_REASONS = {
    HTTPStatus.UNAUTHORIZED: "Unauthorized: the page requires a login",
    HTTPStatus.GONE: "Gone: the page was removed",
}


def reason_phrase(status: int) -> str:
    """Return a user-readable reason phrase; empty for an unknown status."""
    try:
        return _REASONS.get(HTTPStatus(status)) or HTTPStatus(status).phrase
    except ValueError:
        return ""
