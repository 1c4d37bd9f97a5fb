"""Lists show pages with icons and pictures, from every source."""

from io import BytesIO

from aiohttp import web
from PIL import Image

from archiver.app import open_app
from archiver.cli.crawl import _extract
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from archiver.model.rendering import NO_PREVIEW_IMAGES

HEAD = '<link rel=icon href=/i.png><meta property="og:image" content="/og.png">'


def picture(side):
    out = BytesIO()
    Image.new("RGB", (side, side), "teal").save(out, "PNG")
    return out.getvalue()


async def preview_images(runtime):
    listing = await runtime.search.listing(ListingQuery())
    return [each.preview_images for each in listing.items]


async def test_postponed_extraction_keeps_preview_images(tmp_path, live):
    settings = Settings(
        data=tmp_path / "data", allow_networks=("127.0.0.0/8",), host_delay=0, articles="later"
    )
    for path, side in (("/i.png", 32), ("/og.png", 300)):
        body = picture(side)

        async def answer(_, body=body):
            return web.Response(body=body, content_type="image/png")

        live.add_handler(path, answer)
    async with open_app(settings) as runtime:
        await runtime.entries.save([live.article("otters", head=HEAD)], source="web")
        await runtime.crawling.work()
        before = await preview_images(runtime)

    assert await _extract(settings) == 0

    async with open_app(settings) as runtime:
        (after,) = await preview_images(runtime)
        assert [each async for each in runtime.fixity.verify()] == []
    assert before == [NO_PREVIEW_IMAGES]
    assert after.icon
    assert after.cover
