"""Checks a stored record against what it states of itself, in one reading."""

from collections.abc import Iterator

from archiver.errors import InvalidRecord, StoreError
from archiver.warc.digest import Check
from archiver.warc.http_block import open_payload
from archiver.warc.reader import StoredRecord
from archiver.warc.record import RecordType


def watch(record: StoredRecord) -> "Verification":
    """Begin to check a record; whatever is read of its block from now on counts."""
    return Verification(record)


class Verification:
    """The checks of one record; ``problems`` reads what is left of it and tells."""

    def __init__(self, record: StoredRecord) -> None:
        self._record = record
        self._problems: list[str] = []
        self._block = self._check("warc-block-digest")
        if self._block:
            record.block.watch(self._block.update)

    def payload(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces of the record's payload, checked as they pass."""
        check = self._check("warc-payload-digest")
        for piece in pieces:
            if check:
                check.update(piece)
            yield piece
        if check and not check.holds():
            self._problems.append("The payload does not have the digest that its record states.")

    def problems(self) -> list[str]:
        """What is wrong with the record, as sentences; it is read to its end."""
        try:
            self._record.finish()
        except StoreError as error:
            return [*self._problems, str(error)]
        if self._block and not self._block.holds():
            self._problems.append("The block does not have the digest that its record states.")
        return self._problems

    def _check(self, name: str) -> Check | None:
        stated = self._record.get(name)
        try:
            return Check(stated) if stated else None
        except InvalidRecord as error:
            self._problems.append(str(error))
            return None


def verify_record(record: StoredRecord) -> list[str]:
    """Read a record to its end; return what is wrong with it, as sentences."""
    verification = watch(record)
    if record.type is RecordType.RESPONSE:
        try:
            _, payload = open_payload(record)
            for _ in verification.payload(payload):
                pass
        except StoreError as error:
            return [str(error)]
    return verification.problems()
