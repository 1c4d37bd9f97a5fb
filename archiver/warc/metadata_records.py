"""Metadata records of entries, lists and deletions as JSON.

An entry record closes each visit. It holds what the person says of the entry and what the visit
brought, so that the WARC files alone can give everything back. Fields are only ever added; a
reader passes over those it does not know.

They tell whoever reads the segments what is no part of the archive any more, though its records may
still be there, in this segment or another. Of an entry they hold the hash of its address alone.

What lies in a list is said by the entry records (``Annotation.folders``); these hold what no entry
can say: lists without entries, saved searches, and the order of all.
"""

import json
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from archiver.errors import InvalidRecord
from archiver.http.timestamps import read_iso
from archiver.model.annotation import Annotation
from archiver.model.capture import HashUrl, RecordId, Timestamp
from archiver.model.deletion import DeletedEntry, DeletedSnapshot, Deletion, RemainingArticle
from archiver.model.entry_list import Arrangement, EntryList
from archiver.model.failure import Failure, FailureKind
from archiver.model.page import Charset, PageMetadata
from archiver.model.rendering import (
    QualitySignals,
    RenderHint,
    Rendering,
    RenditionKind,
    RenditionRef,
    is_digest,
    known_limits,
)
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.warc.annotation_json import iso, read_annotation, text, write_annotation

FORMAT = "archiver/1"
MOST_NUMBER = 10**9
"""Of what is counted and measured: a file of somebody else may say anything."""
_ALWAYS = (
    *("timestamp", "capture_url", "capture_timestamp", "capture_record"),
    *("article", "article_of", "extractor"),
)
_FIRST = {
    kind: [(each.name, each.default) for each in fields(kind)]
    for kind in (PageMetadata, Charset, QualitySignals)
}
"""The fields of each kind, and what they are at first."""
_HASH_DIGITS = 32
_HEX = frozenset("0123456789abcdef")


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
        rendering: whether a browser showed it, or should have.
        likenesses: the conversion records of how it looked there.
        look: what a plain look at it told of its host.
        appearance: what tells how whole it is.
        answers: the responses that it brought and that are not what their URLs show.
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
    rendering: Rendering = Rendering.NONE
    likenesses: tuple[RenditionRef, ...] = ()
    look: RenderHint = RenderHint.NONE
    appearance: QualitySignals = field(default_factory=QualitySignals)
    answers: tuple[RecordId, ...] = ()

    @property
    def made(self) -> list[RecordId]:
        """The conversion records that it names."""
        likenesses = [each.record_id for each in self.likenesses]
        return [self.article, *likenesses] if self.article else likenesses


@dataclass(frozen=True, slots=True)
class EntryRecord:
    """One metadata record: an entry with a snapshot, with a failure, or as it was changed.

    Attributes:
        at: when the attempt was made, or the change written down (aware, UTC).
        hash_url, url: of the entry.
        annotation: what the person says of it.
        revision: how often that had been changed; of two records the higher one holds.
        snapshot: what a visit brought.
        failure: why it brought nothing.
        is_waiting: whether it is still to be captured; only exports tell so.
        generation: how often all of the entry had been thrown away before.
        is_link: whether it is kept as a link, which nobody is to capture.
    """

    at: datetime
    hash_url: HashUrl
    url: str
    annotation: Annotation
    revision: int = 0
    snapshot: SnapshotRecord | None = None
    failure: Failure | None = None
    is_waiting: bool = False
    generation: int = 0
    is_link: bool = False


def entry_record_uri(hash_url: HashUrl) -> str:
    """The WARC-Target-URI of an entry's records.

    Not the page's own: other tools index metadata and conversion records by it, and would replay
    one in the page's place.
    """
    return f"urn:archiver:{hash_url}"


def likeness_uri(hash_url: HashUrl, kind: RenditionKind) -> str:
    """The WARC-Target-URI of an entry's likenesses of a kind."""
    return f"urn:archiver:{hash_url}:{kind}"


def article_uri(hash_url: HashUrl) -> str:
    """The WARC-Target-URI of an entry's articles."""
    return f"urn:archiver:{hash_url}:article"


def hash_of_uri(uri: str) -> HashUrl | None:
    """The entry that a record is of, by its WARC-Target-URI; None where that names none.

    >>> hash_of_uri("urn:archiver:44abc2fd416f673b9c6ae0f5147726a9:article")
    '44abc2fd416f673b9c6ae0f5147726a9'
    """
    prefix, _, rest = uri.partition("urn:archiver:")
    key = rest.partition(":")[0]
    is_one = not prefix and len(key) == _HASH_DIGITS and set(key) <= _HEX
    return HashUrl(key) if is_one else None


def write_entry_record(entry_record: EntryRecord) -> dict[str, Any]:
    """The JSON document of an entry record."""
    entry = {
        "hash_url": entry_record.hash_url,
        "url": entry_record.url,
        "revision": entry_record.revision,
        **write_annotation(entry_record.annotation),
    }
    if entry_record.generation:
        entry["generation"] = entry_record.generation
    document: dict[str, Any] = {"format": FORMAT, "at": iso(entry_record.at), "entry": entry}
    if entry_record.snapshot:
        document["snapshot"] = _write_snapshot(entry_record.snapshot)
    if entry_record.failure:
        document["failure"] = _write_failure(entry_record.failure)
    if entry_record.is_waiting:
        document["waiting"] = True
    if entry_record.is_link:
        document["link"] = True
    return document


def read_entry_record(block: bytes) -> EntryRecord | None:
    """The entry record in a metadata record's block; None if it is none of ours, or of no entry.

    Raises:
        InvalidRecord: it says it is one of ours and does not hold what one must.
    """
    try:
        document = json.loads(block)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    if "entry" not in document and ("deletion" in document or "lists" in document):
        return None
    try:
        return _read(document)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidRecord(f"A metadata record lacks or garbles {error}.") from error


def _read(document: dict[str, Any]) -> EntryRecord:
    entry = document["entry"]
    snapshot, failure = document.get("snapshot"), document.get("failure")
    return EntryRecord(
        at=read_iso(document["at"]),
        hash_url=HashUrl(text(entry["hash_url"])),
        url=text(entry["url"]),
        annotation=read_annotation(entry),
        revision=int(entry.get("revision", 0)),
        snapshot=_read_snapshot(snapshot) if snapshot else None,
        failure=_read_failure(failure) if failure else None,
        is_waiting=document.get("waiting") is True,
        generation=int(entry.get("generation", 0)),
        is_link=document.get("link") is True,
    )


def _write_snapshot(snapshot: SnapshotRecord) -> dict[str, Any]:
    """The JSON of what a visit brought, without what most bring nothing of."""
    kept: dict[str, Any] = {name: getattr(snapshot, name) for name in _ALWAYS}
    kept["metadata"] = _fields(snapshot.metadata)
    kept["charset"] = _fields(snapshot.charset)
    kept["requisites"] = [_write_outcome(each) for each in snapshot.requisites]
    if appearance := _fields(snapshot.appearance):
        kept["appearance"] = appearance
    if snapshot.rendering:
        kept["rendering"] = snapshot.rendering
    if snapshot.look:
        kept["look"] = snapshot.look
    if snapshot.likenesses:
        kept["likenesses"] = [_write_likeness(each) for each in snapshot.likenesses]
    if snapshot.answers:
        kept["answers"] = snapshot.answers
    return kept


def _read_snapshot(kept: dict[str, Any]) -> SnapshotRecord:
    known = PageMetadata.__dataclass_fields__
    return SnapshotRecord(
        timestamp=Timestamp(text(kept["timestamp"])),
        capture_url=text(kept["capture_url"]),
        capture_timestamp=Timestamp(text(kept["capture_timestamp"])),
        capture_record=RecordId(text(kept["capture_record"])),
        article=RecordId(text(kept["article"])) if kept["article"] else None,
        article_of=Timestamp(text(kept["article_of"])) if kept["article_of"] else None,
        extractor=text(kept["extractor"]),
        metadata=PageMetadata(**{k: text(v) for k, v in kept["metadata"].items() if k in known}),
        requisites=tuple(_read_outcome(each) for each in kept["requisites"]),
        charset=_read_charset(kept.get("charset")),
        rendering=Rendering(kept.get("rendering", "")),
        likenesses=tuple(_read_likeness(each) for each in kept.get("likenesses", ())),
        look=RenderHint(kept.get("look", "")),
        appearance=_read_appearance(kept.get("appearance")),
        answers=tuple(RecordId(text(each)) for each in kept.get("answers", ())),
    )


def _read_charset(charset: object) -> Charset:
    if not isinstance(charset, dict):
        return Charset()
    return Charset(text(charset.get("used", "")), text(charset.get("declared", "")))


def _read_appearance(appearance: object) -> QualitySignals:
    """What was seen of a page; what a file garbles was not seen."""
    if not isinstance(appearance, dict):
        return QualitySignals()

    limits = appearance.get("limits")

    def number(name: str) -> int | None:
        found = appearance.get(name)
        return found if type(found) is int and 0 <= found <= MOST_NUMBER else None

    return QualitySignals(
        readable=number("readable"),
        source=number("source") or 0,
        is_error=appearance.get("is_error") is True,
        is_cut=appearance.get("is_cut") is True,
        picture=number("picture"),
        words=number("words"),
        limits=known_limits(limits) if isinstance(limits, list) else (),
    )


def _fields(value: PageMetadata | Charset | QualitySignals) -> dict[str, Any]:
    """The fields of a value that are not as they begin: each page writes them, and has few."""
    return {
        name: held
        for name, first in _FIRST[type(value)]
        if (held := getattr(value, name)) is not first and held != first
    }


def _write_outcome(outcome: RequisiteOutcome) -> dict[str, Any]:
    document: dict[str, Any] = {"url": outcome.url, "kind": outcome.kind}
    if outcome.area:
        document["area"] = outcome.area
    if outcome.is_emblem:
        document["emblem"] = True
    if outcome.failure:
        return document | {"failure": _write_failure(outcome.failure)}
    return document | {"status": outcome.status}


def _read_outcome(document: dict[str, Any]) -> RequisiteOutcome:
    failure, status = document.get("failure"), document.get("status")
    return RequisiteOutcome(
        url=text(document["url"]),
        kind=RequisiteKind(document["kind"]),
        status=None if status is None else int(status),
        failure=_read_failure(failure) if failure else None,
        area=min(max(int(document.get("area", 0)), 0), MOST_NUMBER),
        is_emblem=document.get("emblem") is True,
    )


def _write_likeness(likeness: RenditionRef) -> dict[str, Any]:
    document = {
        "kind": likeness.kind,
        "media_type": likeness.media_type,
        "record": likeness.record_id,
    }
    return document | {"digest": likeness.digest} if likeness.digest else document


def _read_likeness(document: dict[str, Any]) -> RenditionRef:
    digest = text(document.get("digest", ""))
    return RenditionRef(
        RenditionKind(document["kind"]),
        text(document["media_type"]),
        RecordId(text(document["record"])),
        digest if is_digest(digest) else "",
    )


def _write_failure(failure: Failure) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": failure.kind, "message": failure.message}
    return document if failure.status is None else document | {"status": failure.status}


def _read_failure(document: dict[str, Any]) -> Failure:
    return Failure(FailureKind(document["kind"]), text(document["message"]), document.get("status"))


DELETION_URI = "urn:archiver:deletion"
"""The WARC-Target-URI of these records: they are told from others without being read."""


def write_deletion(deletion: Deletion) -> dict[str, Any]:
    """The JSON document of a deletion record."""
    return {
        "format": FORMAT,
        "at": iso(deletion.at),
        "deletion": {
            "id": deletion.id,
            "gone": [_write_gone(each) for each in deletion.gone],
            "captures": [*deletion.captures],
            "restores": [*deletion.restores],
        },
    }


def read_deletion(block: bytes) -> Deletion:
    """The deletion in a record's block.

    Raises:
        InvalidRecord: there is none that can be read.
    """
    try:
        document = json.loads(block)
        held = document["deletion"]
        return Deletion(
            id=int(held["id"]),
            at=read_iso(document["at"]),
            gone=tuple(_read_gone(each) for each in held["gone"]),
            captures=tuple(RecordId(text(each)) for each in held["captures"]),
            restores=tuple(int(each) for each in held["restores"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecord(f"A deletion record lacks or garbles {error}.") from error


def _write_gone(gone: DeletedEntry) -> dict[str, Any]:
    return {
        "hash_url": gone.hash_url,
        "generation": gone.generation,
        "snapshots": [[each.timestamp, each.page] for each in gone.snapshots],
        "articles": [[each.timestamp, each.article] for each in gone.articles],
    }


def _read_gone(held: dict[str, Any]) -> DeletedEntry:
    generation = held["generation"]
    return DeletedEntry(
        hash_url=HashUrl(text(held["hash_url"])),
        generation=None if generation is None else int(generation),
        snapshots=tuple(
            DeletedSnapshot(Timestamp(text(timestamp)), RecordId(text(page)))
            for timestamp, page in held["snapshots"]
        ),
        articles=tuple(
            RemainingArticle(Timestamp(text(timestamp)), RecordId(text(article)))
            for timestamp, article in held["articles"]
        ),
    )


LISTS_URI = "urn:archiver:lists"
"""The WARC-Target-URI of these records."""
LISTS = "lists"


def write_arrangement(arrangement: Arrangement) -> dict[str, Any]:
    """The JSON document of such a record."""
    return {
        "format": FORMAT,
        "at": iso(arrangement.at),
        "revision": arrangement.revision,
        LISTS: [
            {"path": each.path, **({"query": each.query} if each.query else {})}
            for each in arrangement.lists
        ],
    }


def read_arrangement(block: bytes) -> Arrangement:
    """The arrangement in a record's block.

    Raises:
        InvalidRecord: there is none that can be read.
    """
    try:
        document = json.loads(block)
        lists = tuple(
            EntryList(text(each["path"]), text(each.get("query", "")))
            for each in document[LISTS]
            if each["path"]
        )
        return Arrangement(int(document["revision"]), read_iso(document["at"]), lists)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecord(f"A record of lists lacks or garbles {error}.") from error
