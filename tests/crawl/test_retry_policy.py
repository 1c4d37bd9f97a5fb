from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest

from archiver.config import Settings
from archiver.crawl.retry_policy import retry_after_seconds, retry_at, status_failure
from archiver.model.capture import Exchange
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import EntryRef, Lease

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SETTINGS = Settings(retries=2, retry_delay=5)


def lease(attempts):
    return Lease(
        1, None, EntryRef(1, "0" * 32, "http://a.example/", "a.example"), attempts, NOW, False
    )


def answer(status, **headers):
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    body = BytesIO()
    return Exchange("http://a.example/", NOW, "", b"", b"", body, False, status, fields, "", 0)


def status(code, retry_after=None):
    return Failure(FailureKind.HTTP_STATUS, "No.", code, retry_after)


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 5), (1, 30), (2, None), (9, None)])
def test_each_attempt_waits_six_times_longer_up_to_the_last(attempts, seconds):
    failure = Failure(FailureKind.TIMEOUT, "Too slow.")

    again = retry_at(failure, lease(attempts), SETTINGS, NOW)

    assert again == (None if seconds is None else NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("failure", "is_tried_again"),
    [
        (Failure(FailureKind.DNS, ""), True),
        (Failure(FailureKind.REFUSED, ""), True),
        (Failure(FailureKind.DISCONNECTED, ""), True),
        (Failure(FailureKind.TLS, ""), False),
        (Failure(FailureKind.BLOCKED_ADDRESS, ""), False),
        (Failure(FailureKind.TOO_LARGE, ""), False),
        (Failure(FailureKind.NOT_A_PAGE, ""), False),
        (status(404), False),
        (status(410), False),
        (status(429), True),
        (status(503), True),
    ],
)
def test_only_temporary_failures_are_retried(failure, is_tried_again):
    assert (retry_at(failure, lease(0), SETTINGS, NOW) is not None) is is_tried_again


@pytest.mark.parametrize(
    ("delay", "seconds"), [(1, 5), (60, 60), (3600, 3600), (3601, None), (86400, None)]
)
def test_retry_after_is_respected_unless_too_long(delay, seconds):
    again = retry_at(status(429, float(delay)), lease(0), SETTINGS, NOW)

    assert again == (None if seconds is None else NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("code", "value", "seconds"),
    [
        (429, "120", 120),
        (503, " 7 ", 7),
        (503, "Sun, 01 Mar 2026 12:01:30 GMT", 90),
        (503, "Sun, 01 Mar 2026 11:00:00 GMT", 0),
        (503, "soon", None),
        (503, "-5", None),
        (503, "Mon, 01 Jan 2024 00:00:00 +99999999999999999999", None),
        (503, "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        (503, "9" * 400, 999_999_999),
        (200, "120", None),
        (301, "120", None),
        (503, None, None),
    ],
)
def test_retry_after_of_a_429_or_503_is_seconds_or_a_date(code, value, seconds):
    assert retry_after_seconds(code, value, NOW) == seconds


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (200, None),
        (206, None),
        (204, FailureKind.NOT_A_PAGE),
        (205, FailureKind.NOT_A_PAGE),
        (304, FailureKind.HTTP_STATUS),
        (404, FailureKind.HTTP_STATUS),
        (599, FailureKind.HTTP_STATUS),
    ],
)
def test_final_status_codes_map_to_failures(code, kind):
    failure = status_failure(code, None)

    assert (failure and failure.kind) == kind
    assert failure is None or (failure.status == code and failure.message.endswith("."))
