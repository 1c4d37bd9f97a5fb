"""What was drawn lately: many pages of a host have one icon, and some one picture."""

from collections import OrderedDict

from archiver.model.capture import PayloadDigest
from archiver.model.likeness import LikenessKind, NewLikeness

MOST = 512


class Drawn:
    """Remembers icons and covers by the payloads that they were drawn of."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[tuple[LikenessKind, PayloadDigest], tuple[NewLikeness | None]]
        self._known = OrderedDict()

    def get(self, kind: LikenessKind, payload: PayloadDigest) -> tuple[NewLikeness | None] | None:
        """What was drawn of a payload, if anything could be; None where nobody has tried."""
        found = self._known.get((kind, payload))
        if found:
            self._known.move_to_end((kind, payload))
        return found

    def keep(
        self, kind: LikenessKind, payload: PayloadDigest, drawn: NewLikeness | None
    ) -> tuple[NewLikeness | None]:
        """Remember what was drawn, and return it."""
        self._known[kind, payload] = (drawn,)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return (drawn,)
