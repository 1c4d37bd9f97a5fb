"""Words are found in PDFs and earlier snapshots, and results show where."""

import pytest
from aiohttp import web

from archiver.errors import NotFound
from archiver.model.listing import ListingQuery
from archiver.services.reindex import reindex
from tests.conftest import SENTENCE
from tests.pdfs import pdf_of

SAME = SENTENCE.format(name="foxes") * 6


async def save(archive, *urls):
    await archive.entries.save(urls, source="cli")
    await archive.crawling.work()


async def listed(archive, q):
    return (await archive.search.listing(ListingQuery(q=q))).items


def words(item):
    return [each.text for each in item.excerpt if each.is_match]


async def test_a_pdf_is_found_by_its_words_and_metadata(live, archive, settings):
    payload = pdf_of([["The wombat digs at night."]], {"Title": "Of diggers", "Author": "Ada"})

    async def answer(_):
        return web.Response(body=payload, content_type="application/pdf")

    url = live.add_handler("/paper.pdf", answer)
    await save(archive, url)

    (item,) = await listed(archive, "wombat by:ada type:pdf")
    assert (item.entry.title, words(item)) == ("Of diggers", ["wombat"])
    assert (await archive.entries.snapshot(url)).text == "The wombat digs at night."


async def put(live, archive, body):
    await save(archive, live.put("/foxes", f"<title>foxes</title><article>{body}{SAME}</article>"))


async def test_words_of_earlier_snapshots_are_found_with_their_snapshot(
    live, open_archive, settings
):
    async with open_archive() as archive:
        for body in ("<p>A wombat slept.</p>", "<p>A badger ate.</p>", "<p>A badger ate.</p>", ""):
            await put(live, archive, body)
        await put(live, archive, "<p>An otter swam.</p>")
    for is_rebuilt in (False, True):
        if is_rebuilt:
            await reindex(settings)
        async with open_archive() as archive:
            snapshots = (await archive.entries.get(live.url("/foxes"))).snapshots
            moments = [each.timestamp for each in snapshots]
            results = {q: await listed(archive, q) for q in ("wombat", "badger", "otter", "foxes")}

            assert [len(each) for each in results.values()] == [1, 1, 1, 1]
            at = {q: items[0].found_at for q, items in results.items()}
            assert at == {"wombat": moments[4], "badger": moments[2], "otter": None, "foxes": None}
            assert words(results["wombat"][0]) == ["wombat"]
            assert await listed(archive, "words:<400 wombat")


async def test_an_entry_is_found_by_every_address_of_its_page(live, open_archive, settings):
    def redirect(path, target):
        async def answer(_):
            return web.Response(status=302, headers={"Location": target})

        return live.add_handler(path, answer)

    start, hops = redirect("/short", "/hop-1"), ["/hop-1", "/hop-2"]
    redirect("/hop-1", "/hop-2")
    redirect("/hop-2", "/moved")
    refresh = "<meta http-equiv=refresh content='0; url=/otters-of-the-north'>"
    live.put("/moved", refresh)
    canonical = live.url("/canonical")
    page = live.article("otters-of-the-north", head=f"<link rel=canonical href={canonical}>")
    async with open_archive() as archive:
        await save(archive, start)
    for is_rebuilt in (False, True):
        if is_rebuilt:
            await reindex(settings)
        async with open_archive() as archive:
            steps = [*map(live.url, (*hops, "/moved", "/moved/")), page, f"{page}/"]
            alike = [each.replace("http:", "https:") for each in steps]
            for url in (start, *steps, *alike, canonical):
                assert [each.entry.url for each in await listed(archive, url)] == [start]
                (entry,) = (await archive.entries.saved_at(url)).entries
                assert entry.url == (await archive.entries.get(url)).entry.url == start
                (saved,) = (await archive.entries.saved_addresses([url])).known
                assert saved.entry.url == start
            assert (await archive.entries.saved_at(live.url("/other"))).entries == ()
            assert [each.entry.url for each in await listed(archive, f'"{page}"')] == [start]
            with pytest.raises(NotFound):
                await archive.deleting.entries([page])
