"""Failures of attempts to capture a page."""

from dataclasses import dataclass
from enum import StrEnum


class FailureKind(StrEnum):
    """Type of a failure. Values are stored in the index and in WARC records; do not change them."""

    DNS = "dns"
    REFUSED = "refused"
    TLS = "tls"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    PROTOCOL = "protocol"
    HTTP_STATUS = "http-status"
    RESTING = "resting"
    TOO_LARGE = "too-large"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    BLOCKED_ADDRESS = "blocked-address"
    EXCLUDED = "excluded"
    INVALID_URL = "invalid-url"
    NOT_A_PAGE = "not-a-page"
    NOT_IN_FILE = "not-in-file"
    WRONG_TYPE = "wrong-type"
    WALLED = "walled"
    PARKED = "parked"
    NOT_ARCHIVED = "not-archived"
    NOT_RESCUED = "not-rescued"
    CANCELLED = "cancelled"
    LOST = "lost"
    INTERNAL = "internal"


TRANSIENT = frozenset(
    {
        FailureKind.DNS,
        FailureKind.REFUSED,
        FailureKind.TIMEOUT,
        FailureKind.DISCONNECTED,
        FailureKind.RESTING,
        FailureKind.NOT_RESCUED,
        FailureKind.INTERNAL,
    }
)
"""Types of failures after which a retry can help. HTTP_STATUS depends on RETRIED_STATUSES."""

RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP statuses of temporary failures (RFC 9110 §15, RFC 6585 §4)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why an attempt failed.

    Attributes:
        kind: type of the failure.
        message: sentence for the user.
        status: HTTP status; None if there was no response.
        retry_after: seconds to wait according to the Retry-After header (RFC 9110 §10.2.3), if any.
    """

    kind: FailureKind
    message: str
    status: int | None = None
    retry_after: float | None = None

    @property
    def reason(self) -> str:
        """Key for grouping failures: the kind, with the HTTP status if any."""
        return f"{self.kind} {self.status}" if self.status else self.kind.value

    @property
    def transient(self) -> bool:
        """Whether a retry may succeed."""
        if self.kind is FailureKind.HTTP_STATUS:
            return self.status in RETRIED_STATUSES
        return self.kind in TRANSIENT


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Reason of failures (kind, and HTTP status if any), and the number of entries that failed."""

    reason: str
    entries: int

    @property
    def search_query(self) -> str:
        """Search query that finds the entries that failed for this reason."""
        text = self.reason.removeprefix(f"{FailureKind.HTTP_STATUS} ")
        return f'failed:"{text}"' if " " in text else f"failed:{text}"
