"""Archives with segments in a bucket: saving pages, and reading all of them back."""

from dataclasses import replace
from pathlib import Path

from archiver.app import App, open_app
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from archiver.replay.addresses import Modifier
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer


async def save(settings: Settings, urls: list[str]) -> None:
    """Capture URLs; return after all finished segments were uploaded."""
    async with open_app(settings) as archive:
        await archive.entries.save(urls, source="test")
        await archive.crawling.work()


async def stored_content(settings: Settings) -> list[tuple[str, str, bytes]]:
    """Return every entry with its text and payload; `verify` must find no problems."""
    async with open_app(settings) as archive:
        listing = await archive.search.listing(ListingQuery())
        results = []
        for url in sorted(each.entry.url for each in listing.items):
            text = (await archive.entries.snapshot(url)).text
            results.append((url, text, await payload(archive, url)))
        assert [each async for each in archive.fixity.verify() if each.is_wrong] == []
        return results


async def payload(archive: App, url: str) -> bytes:
    capture = (await archive.replay.captures_of(url))[-1]
    shown = await archive.replay.open(
        capture, ReplayRequest(Viewer("http://test"), Modifier.IDENTITY)
    )
    return b"".join([piece async for piece in shown.body])


def other_machine(settings: Settings, data: Path) -> Settings:
    """Return the settings of the same archive for another machine with a separate disk."""
    data.mkdir(exist_ok=True)
    return replace(settings, data=data)
