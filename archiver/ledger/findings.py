"""What a stretch of records says: pure, from stored records to values."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from archiver.errors import InvalidRecord, StoreError
from archiver.index.rebuild_scratch import Dated
from archiver.memento.timestamps import to_timestamp
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId
from archiver.model.deletion import Deletion
from archiver.model.entry_list import Arrangement
from archiver.store.scanning import Damage, Scanned
from archiver.urls.parse import redirect_target
from archiver.warc.deletion_record import DELETION_URI, read_deletion
from archiver.warc.digest import digest_of, is_ours
from archiver.warc.extension import ANSWERS, ORIGINAL_DIGEST
from archiver.warc.http_block import open_payload
from archiver.warc.lists_record import LISTS_URI, read_arrangement
from archiver.warc.reader import StoredRecord
from archiver.warc.record import RecordType
from archiver.wire.media_type import declared_media_type, essence_of


@dataclass(slots=True)
class Findings:
    """A stretch of a segment.

    Attributes:
        records: how many records were read.
        end: the byte after the last of them.
        captures: of response and revisit records; a revisit's length is 0 here.
        answers: record ids and places of responses that are not what their URLs show.
        conversions: record ids and places of conversion records.
        entry_records: places and dates of metadata records.
        deletions: what was thrown away.
        arrangements: which lists there are, and in which order.
        stated_digests: by which digests payloads of imported records are known elsewhere.
        problems: records that could not be used, and why.
    """

    records: int = 0
    end: int = 0
    captures: list[Capture] = field(default_factory=list)
    answers: list[tuple[RecordId, Location]] = field(default_factory=list)
    conversions: list[tuple[RecordId, Location]] = field(default_factory=list)
    entry_records: list[Dated] = field(default_factory=list)
    deletions: list[Deletion] = field(default_factory=list)
    arrangements: list[Arrangement] = field(default_factory=list)
    stated_digests: dict[str, PayloadDigest] = field(default_factory=dict)
    problems: list[tuple[Location, str]] = field(default_factory=list)


def read_findings(scanned: Iterable[Scanned | Damage], limit: int) -> Findings:
    """Read up to ``limit`` records from a scan."""
    findings = Findings()
    for each in scanned:
        if isinstance(each, Damage):
            place = each.location
            if each.is_torn:
                # It may go on: whoever recovers next looks at it again.
                place = replace(place, length=0)
            else:
                findings.problems.append((each.location, each.problem))
        else:
            place = _read_one(findings, each)
        findings.records += 1
        findings.end = place.offset + place.length
        if findings.records >= limit:
            break
    return findings


def _read_one(findings: Findings, scanned: Scanned) -> Location:
    """Note what a record says; return its place."""
    record, head = scanned.record, None
    start = Location(scanned.segment, record.offset, 0)
    of_no_entry = None
    try:
        if is_capture(record):
            head = capture_of(record, start)
        elif record.type is RecordType.METADATA:
            of_no_entry = _of_no_entry(record)
        place = scanned.place()
    except StoreError as error:
        findings.problems.append((start, str(error)))
        return start
    if head:
        findings.captures.append(replace(head, location=place))
        if stated := record.get(ORIGINAL_DIGEST.lower()):
            findings.stated_digests[stated] = head.payload_digest
    elif record.type in (RecordType.RESPONSE, RecordType.CONVERSION):
        is_answer = record.type is RecordType.RESPONSE
        (findings.answers if is_answer else findings.conversions).append((record.id, place))
    elif isinstance(of_no_entry, Deletion):
        findings.deletions.append(of_no_entry)
    elif of_no_entry:
        findings.arrangements.append(of_no_entry)
    elif record.type is RecordType.METADATA:
        findings.entry_records.append(Dated(int(record.date.timestamp()), place))
    return place


def _of_no_entry(record: StoredRecord) -> Deletion | Arrangement | None:
    """What a metadata record says of more than one entry; None for the record of one."""
    if record.target_uri == DELETION_URI:
        return read_deletion(record.block.read())
    if record.target_uri == LISTS_URI:
        return read_arrangement(record.block.read())
    return None


def is_capture(record: StoredRecord) -> bool:
    """Whether a record is what its URL shows, and so has a row."""
    is_response = record.type in (RecordType.RESPONSE, RecordType.REVISIT)
    return is_response and not record.get(ANSWERS.lower())


def is_answer(record: StoredRecord) -> bool:
    """Whether a record is a response that is not what its URL shows."""
    return record.type is RecordType.RESPONSE and bool(record.get(ANSWERS.lower()))


def capture_of(
    record: StoredRecord,
    location: Location,
    watch: Callable[[Iterator[bytes]], Iterator[bytes]] = lambda pieces: pieces,
) -> Capture:
    """The index row that a response or revisit record means; ``watch`` sees its payload pass.

    Raises:
        InvalidRecord: its block is not an HTTP response.
    """
    is_revisit = record.type is RecordType.REVISIT
    head, payload = open_payload(record)
    if is_revisit:
        digest, length = _stated_digest(record), 0
    else:
        digest, length = digest_of(watch(payload))
    url = record.target_uri or ""
    return Capture(
        url=url,
        timestamp=to_timestamp(record.date),
        status=head.status,
        media_type=essence_of(declared_media_type(head.headers)),
        payload_digest=digest,
        payload_length=length,
        record_id=record.id,
        location=location,
        is_revisit=is_revisit,
        redirect_to=redirect_target(url, head.status, head.header("location")),
        ip=record.get("warc-ip-address"),
        is_chunked=head.is_chunked and not is_revisit,
    )


def _stated_digest(record: StoredRecord) -> PayloadDigest:
    """The digest that a revisit states, as ours do.

    Raises:
        InvalidRecord: it states none, or one of another kind.
    """
    stated = record.get("warc-payload-digest")
    if not is_ours(stated):
        raise InvalidRecord(
            f"A revisit states a payload digest of no kind used here: {stated[:80]}"
        )
    return PayloadDigest(stated)


def chunks(scanned: Iterator[Scanned | Damage], size: int) -> Iterator[Findings]:
    """The findings of a scan, ``size`` records at a time."""
    while (findings := read_findings(scanned, size)).records:
        yield findings
