"""Pages are archived with the favicon and thumbnail that lists show."""

from io import BytesIO

import pytest
from aiohttp import web
from PIL import Image

from archiver.db import entries, screenshots, snapshots
from archiver.http.urls import hash_url
from archiver.model.rendering import NO_PREVIEW_IMAGES


def picture(side, form="PNG", colour="teal"):
    out = BytesIO()
    Image.new("RGB", (side, side), colour).save(out, form)
    return out.getvalue()


def put_picture(live, path, side, **more):
    async def answer(_):
        return web.Response(body=picture(side, **more), content_type="image/png")

    return live.add_handler(path, answer)


@pytest.fixture
def crawl_pages(crawl):
    """Crawl pages; return the favicon and thumbnail of each."""

    async def keep(*urls):
        await crawl.queue(*urls)
        await crawl.run()
        async with crawl.context.db.read() as conn:
            rows = await entries.rows_of(conn, [hash_url(each) for each in urls])
            snapshot_rows = await snapshots.latest_of(conn, [*rows.values()])
            shown = await screenshots.preview_images_of(
                conn, [each.row_id for each in snapshot_rows.values()]
            )
        return [
            shown.get(snapshot_rows[rows[hash_url(each)]].row_id, NO_PREVIEW_IMAGES)
            for each in urls
        ]

    return keep


async def test_the_icon_and_picture_declared_by_a_page_are_used(crawl_pages, live, crawl):
    put_picture(live, "/i.png", 64)
    put_picture(live, "/og.png", 600, colour="red")
    head = '<link rel=icon href=/i.png><meta property="og:image" content="/og.png">'

    (result,) = await crawl_pages(live.article("page", head=head))

    assert result.icon
    assert result.cover
    async with crawl.context.db.read() as conn:
        cover = await screenshots.by_digest(conn, result.cover)
    content = crawl.context.store.read(cover.location).block.read()
    assert Image.open(BytesIO(content)).size == (480, 480)
    assert live.requests["/favicon.ico"] == 0


async def test_the_default_icon_of_a_host_is_requested_once(crawl_pages, live):
    put_picture(live, "/favicon.ico", 32, form="ICO")

    result = await crawl_pages(live.article("one"), live.article("two"))
    again = await crawl_pages(live.article("three"))

    assert len({each.icon for each in [*result, *again]}) == 1
    assert result[0].icon
    assert live.requests["/favicon.ico"] == 1


async def test_a_missing_icon_is_remembered_by_the_next_process(start_crawl, live):
    for name in ("one", "two"):
        async with start_crawl(requisite_max_age=0) as crawl:
            await crawl.queue(live.article(name))
            await crawl.run()

    assert live.requests["/favicon.ico"] == 1


async def test_a_redirected_icon_is_remembered_by_the_next_process(start_crawl, live):
    async def moved(_):
        raise web.HTTPFound("/moved.png")

    live.add_handler("/favicon.ico", moved)
    put_picture(live, "/moved.png", 32)
    for name in ("one", "two"):
        async with start_crawl(requisite_max_age=0) as crawl:
            await crawl.queue(live.article(name))
            await crawl.run()

    assert (live.requests["/favicon.ico"], live.requests["/moved.png"]) == (1, 1)


async def test_a_page_without_icon_or_picture_is_complete(crawl_pages, live, crawl):
    url = live.article("page", head='<meta property="og:image" content="/gone.png">')

    (result,) = await crawl_pages(url)

    assert result == NO_PREVIEW_IMAGES
    async with crawl.context.db.read() as conn:
        row, _ = await entries.by_hash(conn, hash_url(url))
        snapshot = (await snapshots.latest_of(conn, [row]))[row].snapshot
    assert (snapshot.missing_count, snapshot.score) == (0, 100)


async def test_the_thumbnail_is_the_first_picture_that_is_not_a_badge(crawl_pages, live):
    put_picture(live, "/badge.png", 20)
    put_picture(live, "/photo.png", 400)
    pictures = "<p><img src=/badge.png><img src=/photo.png></p>"

    named, by_itself = await crawl_pages(
        live.article("named", head='<meta property="og:image" content="/photo.png">'),
        live.put(
            "/plain",
            "<!DOCTYPE html><title>plain</title><article><h1>plain</h1>"
            f"{'<p>Words that tell of the badger at length, and of its sett.</p>' * 9}{pictures}"
            f"{'<p>Words that tell of the badger at length, and of its sett.</p>' * 9}</article>",
        ),
    )

    assert by_itself.cover
    assert by_itself.cover == named.cover
