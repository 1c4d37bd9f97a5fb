"""What a file of records says, in its order: requests joined to responses, segments to records.

A request is joined to the response it stands beside, whichever comes first.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from archiver.errors import InvalidUrl, StoreError
from archiver.ingest.exchanges import ForeignCapture, Found, PassedOver, Unusable, read_found
from archiver.ingest.revisits import ForeignRevisit
from archiver.ingest.segmented import Segments
from archiver.urls.parse import parse_url
from archiver.warc.foreign import ForeignRecord, Skipped

MOST_REQUEST = 64 << 10
_FRAMED = re.compile(
    rb"^sec-fetch-dest: *(?:iframe|frame|object|embed)\r?$", re.MULTILINE | re.IGNORECASE
)
_Response = ForeignCapture | ForeignRevisit


def read_records(records: Iterable[ForeignRecord | Skipped], *, most_bytes: int) -> Iterator[Found]:
    """What records say.

    Args:
        records: of one file.
        most_bytes: the largest body that is kept.

    Raises:
        UnreadableFile: the file can't be read any further.
    """
    pairs = _Pairs()
    with Segments(most_bytes) as segments:
        for record in segments.joined(records):
            if isinstance(record, Skipped):
                yield Unusable(f"byte {record.place:,} of the file", record.reason)
            elif record.type == "request":
                yield from pairs.request(record)
            else:
                yield from pairs.found(read_found(record, most_bytes=most_bytes))
        yield from pairs.end()


class _Pairs:
    """Joins requests to responses: the half that comes first waits for the one that follows."""

    def __init__(self) -> None:
        self._response: _Response | None = None
        self._request: tuple[str, bytes] | None = None

    def request(self, record: ForeignRecord) -> Iterator[Found]:
        """Take a request."""
        try:
            request = record.target_uri, record.block.read(MOST_REQUEST)
        except StoreError as error:
            yield Unusable(record.target_uri, str(error))
            return
        response, self._response = self._response, None
        if response and _is_of(request, response):
            yield _joined(response, request)
            return
        if response:
            yield response
        yield from self._forget_request()
        self._request = request

    def found(self, found: Found) -> Iterator[Found]:
        """Take what a record says that is no request."""
        if not isinstance(found, _Response):
            yield found
            return
        if self._response:
            yield self._response
        self._response = None
        if self._request and _is_of(self._request, found):
            yield _joined(found, self._request)
            self._request = None
            return
        yield from self._forget_request()
        self._response = found

    def end(self) -> Iterator[Found]:
        """Give what still waits."""
        if self._response:
            yield self._response
        self._response = None
        yield from self._forget_request()

    def _forget_request(self) -> Iterator[Found]:
        if self._request:
            yield PassedOver("request")
        self._request = None


def _is_of(request: tuple[str, bytes], response: _Response) -> bool:
    url = response.url if isinstance(response, ForeignRevisit) else response.exchange.url
    try:
        return parse_url(request[0]) == url
    except InvalidUrl:
        return False


def _joined(response: _Response, request: tuple[str, bytes]) -> _Response:
    framed = _FRAMED.search(request[1]) is not None
    if isinstance(response, ForeignRevisit):
        return replace(response, request=request[1], is_framed=framed)
    exchange = replace(response.exchange, request=request[1])
    return replace(response, exchange=exchange, is_framed=framed)
