"""Statements: the JSON of our metadata records, to values and back.

A statement closes each visit. It says what the person said of the entry and what the visit
brought, so that the WARC files alone can give everything back. Fields are only ever added; a
reader passes over those it does not know.
"""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from archiver.errors import InvalidRecord
from archiver.model.capture import HashUrl, RecordId, Timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.page import Charset, PageMetadata
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.wire.text import well_formed

FORMAT = "archiver/1"


@dataclass(frozen=True, slots=True)
class DescribedEntry:
    """What a person said of a link, and the page's title where it is known."""

    hash_url: HashUrl
    url: str
    url_given: str
    title: str
    tags: tuple[str, ...]
    note: str
    source: str
    added_at: datetime


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """What a visit brought.

    Attributes:
        timestamp: when the URL was requested.
        capture_url, capture_timestamp, capture_record: of the final response.
        article: record id of the conversion record made for it, if one was.
        article_of: timestamp of the earlier snapshot of this entry whose article still holds.
        extractor: version of the extractor that made it.
        metadata: what the page says of itself.
        requisites: each one, with its status or why there is none.
        charset: the encoding the page was read in, and the one it declared.
    """

    timestamp: Timestamp
    capture_url: str
    capture_timestamp: Timestamp
    capture_record: RecordId
    article: RecordId | None
    article_of: Timestamp | None
    extractor: str
    metadata: PageMetadata
    requisites: tuple[RequisiteOutcome, ...]
    charset: Charset = field(default_factory=Charset)


@dataclass(frozen=True, slots=True)
class EntryRecord:
    """One metadata record: an entry with a snapshot, with a failure, or as it was changed."""

    at: datetime
    entry: DescribedEntry
    snapshot: SnapshotRecord | None = None
    failure: Failure | None = None


def entry_record_uri(hash_url: HashUrl) -> str:
    """The WARC-Target-URI of an entry's statements.

    Not the page's own: other tools index metadata and conversion records by it, and would replay
    one in the page's place.
    """
    return f"urn:archiver:{hash_url}"


def article_uri(hash_url: HashUrl) -> str:
    """The WARC-Target-URI of an entry's articles."""
    return f"urn:archiver:{hash_url}:article"


def write_entry_record(entry_record: EntryRecord) -> dict[str, Any]:
    """The JSON document of a statement."""
    entry = _fields(entry_record.entry) | {"added_at": _iso(entry_record.entry.added_at)}
    document: dict[str, Any] = {"format": FORMAT, "at": _iso(entry_record.at), "entry": entry}
    if entry_record.snapshot:
        kept = _fields(entry_record.snapshot)
        kept["metadata"] = _fields(entry_record.snapshot.metadata)
        kept["charset"] = _fields(entry_record.snapshot.charset)
        kept["requisites"] = [_write_outcome(each) for each in entry_record.snapshot.requisites]
        document["snapshot"] = kept
    if entry_record.failure:
        document["failure"] = _write_failure(entry_record.failure)
    return document


def read_entry_record(block: bytes) -> EntryRecord | None:
    """The statement of a metadata record's block; None if it is not one of ours.

    Raises:
        InvalidRecord: it says it is one of ours and does not hold what one must.
    """
    try:
        document = json.loads(block)
    except ValueError:
        return None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    try:
        return _read(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecord(f"A metadata record lacks or garbles {error}.") from error


def _read(document: dict[str, Any]) -> EntryRecord:
    entry = document["entry"]
    snapshot, failure = document.get("snapshot"), document.get("failure")
    return EntryRecord(
        at=_moment(document["at"]),
        entry=DescribedEntry(
            hash_url=HashUrl(_text(entry["hash_url"])),
            url=_text(entry["url"]),
            url_given=_text(entry["url_given"]),
            title=_text(entry["title"]),
            tags=tuple(map(_text, entry["tags"])),
            note=_text(entry["note"]),
            source=_text(entry["source"]),
            added_at=_moment(entry["added_at"]),
        ),
        snapshot=_read_snapshot(snapshot) if snapshot else None,
        failure=_read_failure(failure) if failure else None,
    )


def _read_snapshot(kept: dict[str, Any]) -> SnapshotRecord:
    known = PageMetadata.__dataclass_fields__
    return SnapshotRecord(
        timestamp=Timestamp(_text(kept["timestamp"])),
        capture_url=_text(kept["capture_url"]),
        capture_timestamp=Timestamp(_text(kept["capture_timestamp"])),
        capture_record=RecordId(_text(kept["capture_record"])),
        article=RecordId(_text(kept["article"])) if kept["article"] else None,
        article_of=Timestamp(_text(kept["article_of"])) if kept["article_of"] else None,
        extractor=_text(kept["extractor"]),
        metadata=PageMetadata(**{k: _text(v) for k, v in kept["metadata"].items() if k in known}),
        requisites=tuple(_read_outcome(each) for each in kept["requisites"]),
        charset=_read_charset(kept.get("charset")),
    )


def _read_charset(said: object) -> Charset:
    if not isinstance(said, dict):
        return Charset()
    return Charset(_text(said.get("used", "")), _text(said.get("declared", "")))


def _fields(value: DescribedEntry | SnapshotRecord | PageMetadata | Charset) -> dict[str, Any]:
    """The fields of a value, as they are: ``asdict`` copies all that they hold."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def _write_outcome(outcome: RequisiteOutcome) -> dict[str, Any]:
    document: dict[str, Any] = {"url": outcome.url, "kind": outcome.kind}
    if outcome.failure:
        return document | {"failure": _write_failure(outcome.failure)}
    return document | {"status": outcome.status}


def _read_outcome(document: dict[str, Any]) -> RequisiteOutcome:
    failure, status = document.get("failure"), document.get("status")
    return RequisiteOutcome(
        url=_text(document["url"]),
        kind=RequisiteKind(document["kind"]),
        status=None if status is None else int(status),
        failure=_read_failure(failure) if failure else None,
    )


def _write_failure(failure: Failure) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": failure.kind, "message": failure.message}
    return document if failure.status is None else document | {"status": failure.status}


def _read_failure(document: dict[str, Any]) -> Failure:
    return Failure(
        FailureKind(document["kind"]), _text(document["message"]), document.get("status")
    )


def _text(value: object) -> str:
    return well_formed(str(value))


@lru_cache(256)
def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
