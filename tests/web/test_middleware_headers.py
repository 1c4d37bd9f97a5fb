from aiohttp import web

from archiver.errors import NotFound


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
