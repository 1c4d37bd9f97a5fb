"""Comparison of two snapshots."""

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from archiver.errors import InputError, StoreError
from archiver.model.capture import Capture
from archiver.model.page import Comparison
from archiver.model.requisite import RequisiteOutcome
from archiver.pages.text_comparison import compare
from archiver.services.entries import Entries, SnapshotDetail
from archiver.warc.reader import open_payload
from archiver.warc.segments import SegmentStore

MAX_SHOWN = 200
"""Maximum number of differing headers, and of URLs in each list of requisites."""
_ALWAYS_NEW = frozenset({"date", "age", "expires", "x-request-id", "cf-ray", "x-served-by"})
"""Headers that differ between any two responses and are ignored."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Value that differs between two snapshots; a missing value is an empty string."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SnapshotDifference:
    """Difference of two snapshots, the earlier one first.

    Attributes:
        before, after: the snapshots.
        text: difference of the article's text.
        metadata: differing page metadata, status, media type, final URL and encoding.
        headers: differing response headers, without headers that differ in every response.
        requisites_added: URLs of requisites that only the later snapshot refers to.
        requisites_removed: URLs of requisites that only the earlier snapshot refers to.
        requisites_lost: URLs of requisites of both snapshots that are missing only in the later
            one.
        requisites_recovered: URLs of requisites of both snapshots that are missing only in the
            earlier one.
        is_same_payload: whether the payloads of both pages are identical.
    """

    before: SnapshotDetail
    after: SnapshotDetail
    text: Comparison
    metadata: tuple[Difference, ...]
    headers: tuple[Difference, ...]
    requisites_added: tuple[str, ...]
    requisites_removed: tuple[str, ...]
    requisites_lost: tuple[str, ...]
    requisites_recovered: tuple[str, ...]
    is_same_payload: bool


class SnapshotComparison:
    """Comparison of snapshots."""

    def __init__(self, entries: Entries, store: SegmentStore) -> None:
        self._entries = entries
        self._store = store

    async def compare(self, ref: str, earlier: str = "", later: str = "") -> SnapshotDifference:
        """Compare two snapshots of an entry.

        Args:
            ref: hash_url or URL.
            earlier: timestamp of a snapshot, 4 to 14 digits; empty for the snapshot before
                ``later``, or the snapshot after it if there is none before it.
            later: timestamp of the other snapshot, 4 to 14 digits; empty for the newest snapshot.

        Raises:
            NotFound: there is no such entry, or it has no snapshot.
            InputError: a timestamp is invalid, or there is only one snapshot.
        """
        one = await self._entries.snapshot(ref, later or None)
        before = earlier or one.earlier or one.later
        if before is None:
            raise InputError(
                "This page has only one snapshot so far, so there is nothing to compare."
            )
        other = await self._entries.snapshot(ref, before)
        first, second = sorted((one, other), key=lambda each: each.snapshot.timestamp)
        return await asyncio.to_thread(self._compare, first, second)

    def _compare(self, before: SnapshotDetail, after: SnapshotDetail) -> SnapshotDifference:
        one, other = before.snapshot.capture, after.snapshot.capture
        needed = [{each.url: each for each in detail.requisites} for detail in (before, after)]
        both = [url for url in needed[0] if url in needed[1]]
        return SnapshotDifference(
            before,
            after,
            compare(before.text, after.text),
            metadata=tuple(_differing(_metadata_of(before), _metadata_of(after))),
            headers=tuple(_differing(self._headers(one), self._headers(other)))[:MAX_SHOWN],
            requisites_added=_limited(url for url in needed[1] if url not in needed[0]),
            requisites_removed=_limited(url for url in needed[0] if url not in needed[1]),
            requisites_lost=_limited(
                url for url in both if _is_lost(needed[0][url], needed[1][url])
            ),
            requisites_recovered=_limited(
                url for url in both if _is_lost(needed[1][url], needed[0][url])
            ),
            is_same_payload=one.payload_digest == other.payload_digest,
        )

    def _headers(self, capture: Capture) -> dict[str, str]:
        """Return the headers of a response by name; repeated headers are joined with commas."""
        try:
            record = self._store.read(capture.location)
            head = open_payload(record)[0] if record.block_length else None
        except StoreError:
            head = None
        headers: dict[str, str] = {}
        for name, value in head.headers if head else ():
            key = name.lower()
            if key not in _ALWAYS_NEW:
                headers[key] = f"{headers[key]}, {value}" if key in headers else value
        return headers


def _metadata_of(detail: SnapshotDetail) -> dict[str, str]:
    snapshot = detail.snapshot
    fields = asdict(snapshot.metadata)
    answered = {
        "status": str(snapshot.capture.status),
        "media type": snapshot.capture.media_type,
        "address": snapshot.final_url,
        "encoding": detail.charset.used,
    }
    return fields | answered


def _differing(before: dict[str, str], after: dict[str, str]) -> list[Difference]:
    names = dict.fromkeys((*before, *after))
    pairs = ((name, before.get(name, ""), after.get(name, "")) for name in names)
    return [Difference(name, one, other) for name, one, other in pairs if one != other]


def _is_lost(before: RequisiteOutcome, after: RequisiteOutcome) -> bool:
    return after.is_missing and not before.is_missing


def _limited(urls: Iterable[str]) -> tuple[str, ...]:
    return tuple(urls)[:MAX_SHOWN]
