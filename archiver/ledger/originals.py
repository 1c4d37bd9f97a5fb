"""Which stored record a response may refer to for its payload: pure.

A record whose block carries chunk framing states no payload digest, and other programs look for an
original at another URL by that digest. So such a payload is referred to from its own URL alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from archiver.model.capture import Capture, PayloadDigest
from archiver.model.exchange import Exchange


@dataclass(slots=True)
class Originals:
    """Response records by their payloads.

    Attributes:
        anywhere: one for each payload, without chunk framing where there is one.
        at_url: one for each URL and payload.
    """

    anywhere: dict[PayloadDigest, Capture] = field(default_factory=dict)
    at_url: dict[tuple[str, PayloadDigest], Capture] = field(default_factory=dict)

    def add(self, captures: Iterable[Capture]) -> None:
        """Learn of records; those known already stay."""
        for each in captures:
            known = self.anywhere.get(each.payload_digest)
            if known is None or (known.is_chunked and not each.is_chunked):
                self.anywhere[each.payload_digest] = each
            self.at_url.setdefault((each.url, each.payload_digest), each)

    def of(self, exchange: Exchange) -> Capture | None:
        """The record that an exchange may be a revisit of."""
        if not exchange.payload_length:
            return None
        found = self.anywhere.get(exchange.payload_digest)
        if found and found.is_chunked and found.url != exchange.url:
            return self.at_url.get((exchange.url, exchange.payload_digest))
        return found

    def out_of_reach(self, exchanges: Iterable[Exchange]) -> list[tuple[str, PayloadDigest]]:
        """URLs and payloads of exchanges whose payload is known from another URL alone."""
        return [
            (each.url, each.payload_digest)
            for each in exchanges
            if each.payload_digest in self.anywhere and self.of(each) is None
        ]
