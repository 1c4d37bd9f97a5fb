"""Icons and pictures in lists, in three densities."""

import re
from datetime import UTC, datetime
from io import BytesIO

from aiohttp import web
from PIL import Image

from archiver.db import new_entries
from archiver.db.engine import AsyncConnection
from archiver.http.urls import hash_url
from archiver.model.annotation import Annotation
from archiver.model.seed import Seed
from archiver.web.rendering import Density
from tests.conftest import filled_by
from tests.web.conftest import page_of

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle r="4"/></svg>'
HEAD = '<link rel=icon href=/i.svg><meta property="og:image" content="/og.png">'


@filled_by
async def fill(runtime, live):
    """Save a page with an icon and a picture, and one without."""

    async def picture(_):
        out = BytesIO()
        Image.new("RGB", (600, 300), "teal").save(out, "PNG")
        return web.Response(body=out.getvalue(), content_type="image/png")

    live.put("/i.svg", DRAWING, kind="image/svg+xml")
    live.add_handler("/og.png", picture)
    urls = [live.article("otters", head=HEAD), live.article("bears"), live.url("/gone")]
    await runtime.entries.save(urls, source="web")
    await runtime.crawling.work()


async def preview_images(client):
    """The addresses of the icon and the picture that the list shows."""
    page = await page_of(client, "/snapshots?q=otters&view=comfortable")
    return re.findall(r'class="icon" src="([^"]+)"', page), re.findall(
        r'class="cover"[^>]*><img src="([^"]+)"', page
    )


async def test_a_row_shows_archived_icons_and_images_only(client):
    (icon,), (cover,) = await preview_images(client)
    drawing, picture = await client.get(icon), await client.get(cover)

    assert (drawing.content_type, picture.content_type) == ("image/svg+xml", "image/webp")
    assert Image.open(BytesIO(await picture.read())).size == (480, 240)
    assert all("immutable" in each.headers["Cache-Control"] for each in (drawing, picture))
    assert "sandbox" in drawing.headers["Content-Security-Policy"]


async def test_each_density_shows_its_details(client):
    pages = {each: await page_of(client, f"/snapshots?view={each}") for each in Density}

    assert all(f'class="entries {each} ' in page for each, page in pages.items())
    assert [page.count('class="cover"') for page in pages.values()] == [1, 0, 1]
    assert [page.count('class="cover titled"') for page in pages.values()] == [0, 0, 2]
    assert [page.count('class="icon"') for page in pages.values()] == [3, 3, 3]
    assert ['class="excerpt' in page for page in pages.values()] == [True, False, True]


async def test_a_heading_stands_above_each_day_with_several_entries(client, runtime):
    days = {"a": 4, "b": 3, "c": 3, "d": 2, "e": 1}
    seeds = [
        Seed(hash_url(url), url, "a.example", Annotation(url, datetime(2020, 1, day, tzinfo=UTC)))
        for name, day in days.items()
        for url in [f"http://a.example/{name}"]
    ]
    async with runtime.db.write() as conn:
        await new_entries.receive(conn, seeds, now=datetime.now(UTC), recapture=False)

    page = await page_of(client, "/snapshots?q=site:a.example&view=comfortable&sort=newest")
    rows = re.findall(r'class="day"><h2><time datetime="([^"]+)|class="item( after-day)?', page)
    assert [a or b for a, b in rows] == ["", "2020-01-03", "", "", " after-day", ""]


async def test_a_longer_list_needs_no_more_queries(client, monkeypatch):
    query_counts = []
    execute = AsyncConnection.execute

    async def counted(self, statement, *arguments):
        query_counts.append(statement)
        return await execute(self, statement, *arguments)

    monkeypatch.setattr(AsyncConnection, "execute", counted)
    await page_of(client, "/snapshots?status=failed")
    few = len(query_counts)
    query_counts.clear()
    await page_of(client, "/snapshots?status=saved")

    assert len(query_counts) <= few
