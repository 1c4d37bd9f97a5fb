from aiohttp import web

from archiver.web.app_keys import METRICS


async def page(request: web.Request) -> web.Response:
    return web.Response()


async def away(request: web.Request) -> web.Response:
    raise web.HTTPSeeOther("/")


async def test_requests_are_counted_by_route(serve):
    client = await serve(web.get("/{any}/", page, name="page"), web.get("/away", away, name="away"))

    for path in ("/a/", "/b/", "/no-such-page/here"):
        await client.get(path)
    await client.get("/away", allow_redirects=False)
    await client.request("PROPFIND", "/a/")
    text = client.app[METRICS].page().decode()

    assert 'archiver_http_requests_total{method="GET",route="page",status="200"} 2.0' in text
    assert 'archiver_http_requests_total{method="GET",route="none",status="404"} 1.0' in text
    assert 'archiver_http_requests_total{method="GET",route="away",status="303"} 1.0' in text
    assert 'archiver_http_requests_total{method="other",route="none",status="405"} 1.0' in text
    assert "no-such-page" not in text
