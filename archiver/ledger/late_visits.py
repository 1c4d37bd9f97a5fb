"""A visit whose page is not to be kept: it was thrown away meanwhile, or kept by another visit."""

from dataclasses import dataclass

from archiver.model.capture import HashUrl, RecordId, Timestamp


@dataclass(frozen=True, slots=True)
class LateVisit:
    """What was brought for an entry or a snapshot that is gone, or there already.

    Attributes:
        hash_url: of the entry.
        timestamp, page: of the snapshot that is not to be, and the record of its page.
        needs: the addresses that it would be replayed from.
        answers: the responses that it brought and that are not what their URLs show.
    """

    hash_url: HashUrl
    timestamp: Timestamp
    page: RecordId
    needs: tuple[str, ...]
    answers: tuple[RecordId, ...] = ()
