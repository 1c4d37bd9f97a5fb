"""Headers of responses, and counts of requests."""

from aiohttp import web

from archiver.errors import NotFound
from archiver.web.app_keys import METRICS


async def page(request: web.Request) -> web.Response:
    return web.Response(text="<p>", content_type="text/html")


async def stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    return response


async def missing(request: web.Request) -> web.Response:
    raise NotFound("It is not here.")


async def broken(request: web.Request) -> web.Response:
    raise RuntimeError


async def own(request: web.Request) -> web.Response:
    return web.Response(headers={"Content-Security-Policy": "sandbox"})


ROUTES = [web.get(f"/{each.__name__}", each) for each in (page, stream, missing, broken, own)]


async def test_every_response_has_the_strict_policy(serve):
    client = await serve(*ROUTES)

    for path in ("/page", "/stream", "/missing", "/broken", "/nowhere"):
        headers = (await client.get(path)).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert policy.endswith("base-uri 'none'; frame-ancestors 'none'")
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Server"] == "archiver"
        assert "Set-Cookie" not in headers


async def test_a_response_with_its_own_policy_keeps_it(serve):
    client = await serve(*ROUTES)

    assert (await client.get("/own")).headers["Content-Security-Policy"] == "sandbox"


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
