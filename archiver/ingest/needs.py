"""What the page of another archive needs, as far as it came: on all levels, nothing fetched."""

from collections import OrderedDict
from collections.abc import Sequence

from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch_or_recall import read_back
from archiver.crawl.requisite_round import MAX_DEPTH, NESTED, of_the_same
from archiver.index import captures
from archiver.model.capture import Capture, Timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.requisite import Requisite, RequisiteOutcome

REMEMBERED = 2048
"""Style sheets and frames that were read lately: the pages of a site share them."""
NOT_IN_FILE = Failure(FailureKind.NOT_IN_FILE, "The imported file does not hold it.")


class Needs:
    """Looks for what pages need, and remembers what style sheets and frames need in their turn."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._known: OrderedDict[tuple[str, str], tuple[Requisite, ...]] = OrderedDict()

    async def outcomes(
        self, url: str, wanted: Sequence[Requisite], timestamp: Timestamp
    ) -> tuple[RequisiteOutcome, ...]:
        """What the archive has of what a page needs, and of what that needs.

        Args:
            url: of the page.
            wanted: what it needs itself.
            timestamp: the moment that is wanted.
        """
        outcomes: dict[str, RequisiteOutcome] = {}
        level = [*wanted]
        for _ in range(MAX_DEPTH + 1):
            found = await self._look_up(level, timestamp)
            outcomes |= {each.url: _outcome(each, held) for each, held in found}
            level = []
            for each, held in found:
                level += await self._of(each, held)
            fresh = {each.url: each for each in level if each.url not in {url, *outcomes}}
            room = max(self._context.settings.max_requisites - len(outcomes), 0)
            level = [*fresh.values()][:room]
            if not level:
                break
        return tuple(outcomes.values())

    async def _look_up(
        self, wanted: Sequence[Requisite], timestamp: Timestamp
    ) -> list[tuple[Requisite, Capture | None]]:
        if not wanted:
            return []
        async with self._context.db.read() as conn:
            held = await captures.nearest_of(conn, [each.url for each in wanted], timestamp)
        return [(each, held.get(each.url)) for each in wanted]

    async def _of(self, wanted: Requisite, held: Capture | None) -> tuple[Requisite, ...]:
        """What a style sheet or a frame needs; nothing where it leads elsewhere."""
        if held is None or held.redirect_to or wanted.kind not in NESTED:
            return ()
        key = held.url, held.payload_digest
        if key not in self._known:
            found = await read_back(self._context, held)
            needs = await self._context.derive.discover(found.document) if found else None
            self._known[key] = of_the_same(wanted, needs.requisites) if needs else ()
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def _outcome(wanted: Requisite, held: Capture | None) -> RequisiteOutcome:
    status, failure = (held.status, None) if held else (None, NOT_IN_FILE)
    return RequisiteOutcome(wanted.url, wanted.kind, status, failure, wanted.area)
