"""Reads ARC files, versions 1 and 2, packed or plain, as if they were WARC files.

A record is a line of fields, then its content; the first describes the file
(https://archive.org/web/researcher/ArcFileFormat.php).
"""

import re

from archiver.errors import InvalidRecord
from archiver.warc.foreign import ForeignBlock, ForeignFile, ForeignRecord, UnusableHead
from archiver.warc.moments import read_moment
from archiver.warc.unpacked import Forward, Unpacked

FIRST = b"filedesc:"
"""What an ARC file begins with."""
BEGINS = re.compile(
    rb"[A-Za-z][A-Za-z0-9+.-]{0,30}:[^\n]{1,8000}? (?:[0-9A-Fa-f.:]{2,45}|-) \d{8,17} [^\n]"
)
_IP = re.compile(r"[0-9A-Fa-f.:]{2,45}|-")
_DATE = re.compile(r"\d{8,17}", re.ASCII)
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)
_NOWHERE = ("-", "0.0.0.0")  # noqa: S104 - an address that was not known


class ForeignArc(ForeignFile):
    """An ARC file: its captures are ``response`` records without ids."""

    def __init__(self, file: Forward) -> None:
        super().__init__(file, begins=BEGINS, begins_record=BEGINS, read=_read)


def _read(content: Unpacked, line: bytes) -> ForeignRecord:
    words = line.decode("utf-8", "replace").split(" ")
    at = _date_at(words)
    length = words[-1].strip()
    if not at or not _LENGTH.fullmatch(length) or not line.endswith(b"\n"):
        raise InvalidRecord("There is no ARC record where one should begin.")
    url, ip = " ".join(words[: at - 1]), words[at - 1]
    block = ForeignBlock(content, int(length))
    try:
        moment = read_moment(words[at])
    except InvalidRecord as error:
        raise UnusableHead(f"{url[:200]}: {error}", block) from error
    scheme = url.partition(":")[0].lower()
    return ForeignRecord(
        type="response" if scheme in ("http", "https") else scheme,
        id="",
        date=moment,
        target_uri=url,
        fields={
            "content-type": words[at + 1],
            "warc-ip-address": "" if ip in _NOWHERE else ip,
        },
        block=block,
    )


def _date_at(words: list[str]) -> int:
    """Which word is the date: it follows the address, and the URL may have spaces; 0 if none."""
    for at in range(2, len(words) - 1):
        if _DATE.fullmatch(words[at]) and _IP.fullmatch(words[at - 1]):
            return at
    return 0
