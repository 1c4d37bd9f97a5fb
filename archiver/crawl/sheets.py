"""Style sheets that say in which direction the lines of an article go, from what is kept."""

from collections.abc import Iterable

from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch_or_recall import read_back
from archiver.crawl.obtained import Obtained
from archiver.html.writing_modes import PROPERTY, says_vertical
from archiver.index import captures
from archiver.model.capture import Timestamp
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.wire.sniff import is_css

MOST_SHEETS = 24
"""Of a page that are looked at."""
MOST_BYTES = 256 << 10
"""Of a sheet that are read."""


def turning_rules(found: Obtained) -> str:
    """What a sheet says, if it sets text from top to bottom somewhere; else nothing.

    Its names are read as UTF-8, whatever it declares: those of another encoding select nothing.
    """
    if not is_css(found.media_type) or PROPERTY.encode() not in found.content:
        return ""
    css = found.content[:MOST_BYTES].decode("utf-8", "replace")
    return css if says_vertical(css) else ""


async def turning_sheets(
    context: CrawlContext, outcomes: Iterable[RequisiteOutcome], timestamp: Timestamp
) -> tuple[tuple[str, str], ...]:
    """Of the sheets that a page needed those that set text from top to bottom, as kept then.

    Raises:
        StoreError: the index could not be asked.
    """
    kept = [each for each in outcomes if each.kind is RequisiteKind.STYLE and not each.is_missing]
    sheets = []
    for each in kept[:MOST_SHEETS]:
        found = await read_nearest(context, each.url, timestamp)
        if css := turning_rules(found) if found else "":
            sheets.append((each.url, css))
    return tuple(sheets)


async def read_nearest(context: CrawlContext, url: str, timestamp: Timestamp) -> Obtained | None:
    """What is kept of a URL from about then, at the end of its redirects.

    Raises:
        StoreError: the index could not be asked.
    """
    for _ in range(context.settings.max_redirects + 1):
        async with context.db.read() as conn:
            held = await captures.nearest(conn, url, timestamp, exact_only=True)
        found = await read_back(context, held) if held else None
        if found is None or found.redirect_to is None:
            return found
        url = found.redirect_to
    return None
