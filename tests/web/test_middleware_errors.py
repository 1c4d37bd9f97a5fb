import pytest
from aiohttp import ClientPayloadError, web

from archiver import errors
from archiver.model.failure import Failure, FailureKind
from archiver.web.app_keys import METRICS
from archiver.web.client_limits import TooManyListeners
from archiver.web.routes import ROUTES
from tests.web.conftest import client_of

CASES = [
    (errors.InvalidUrl("No scheme."), 400, "invalid_url"),
    (errors.UnreadableFile("Empty."), 422, "unreadable_file"),
    (errors.TooLarge("Too big."), 413, "too_large"),
    (errors.InputError("Bad cursor."), 400, "invalid_input"),
    (errors.NotInArchive("https://a.example/"), 404, "not_in_archive"),
    (errors.NotFound("No such entry."), 404, "not_found"),
    (errors.IndexUnavailable("Held."), 503, "index_unavailable"),
    (errors.IndexNotWritable("Full."), 503, "disk_not_writable"),
    (errors.StoreError("Gone."), 500, "store_error"),
    (errors.FetchError(Failure(FailureKind.DNS, "No name.")), 500, "error"),
    (TooManyListeners(), 503, "too_many_listeners"),
    (TimeoutError(), 408, "timeout"),
    (RuntimeError("secret"), 500, "internal"),
    (web.HTTPForbidden(text="Not you."), 403, "forbidden"),
    (web.HTTPTooManyRequests(text="Slowly."), 429, "too_many_requests"),
]


def failing(error: Exception) -> web.RouteDef:
    async def handler(request: web.Request) -> web.Response:
        raise error

    return web.get("/api/v1/x", handler)


async def test_every_api_error_has_one_shape(serve):
    for error, status, code in CASES:
        client = await serve(failing(error))

        answer = await client.get("/api/v1/x")

        assert answer.status == status, error
        assert answer.content_type == "application/json", error
        body = await answer.json()
        assert body.keys() == {"error"}, error
        assert body["error"].keys() == {"code", "message"}, error
        assert body["error"]["code"] == code, error
        assert body["error"]["message"].endswith((".", "?")), error
        assert "secret" not in body["error"]["message"], error


async def test_the_address_of_the_index_is_logged_and_not_shown(serve, caplog):
    why = "postgresql://archiver@10.1.2.3:5433/kept can't be read: the connection was lost."

    async def page(request: web.Request) -> web.Response:
        raise errors.IndexUnavailable(why)

    client = await serve(web.get("/page", page), failing(errors.IndexUnavailable(why)))

    answers = [await client.get(path) for path in ("/page", "/api/v1/x")]

    assert [answer.status for answer in answers] == [503, 503]
    for text in [await answer.text() for answer in answers]:
        assert "Try again in a moment" in text
        assert not any(each in text for each in ("10.1.2.3", "5433", "postgres", "lost"))
    assert [each.fields["reason"] for each in caplog.records] == [why, why]


async def test_errors_of_pages_are_pages(serve):
    async def page(request: web.Request) -> web.Response:
        raise errors.NotFound("There is <no> such entry.")

    client = await serve(web.get("/page", page))

    for path in ("/page", "/nothing", "/"):
        answer = await client.get(path)
        assert answer.status == 404
        assert answer.content_type == "text/html"
        assert "<no>" not in await answer.text() or path != "/page"


async def test_an_error_after_the_response_started_aborts_it(serve):
    async def streaming(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"begun")
        raise errors.StoreError("Gone.")

    client = await serve(web.get("/s", streaming))
    answer = await client.get("/s")

    with pytest.raises(ClientPayloadError):
        await answer.read()


@pytest.mark.parametrize("is_compressed", [False, True])
async def test_a_client_that_disconnects_is_not_an_error(serve, caplog, is_compressed):
    """Users leave pages during live updates, which is not an error for the log."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if is_compressed:
            response.enable_compression(web.ContentCoding.gzip)
        await response.prepare(request)
        request.transport.close()
        await response.write_eof(b"to nobody")
        return response

    client = await serve(web.get("/x", handler, name="x"))
    with pytest.raises(ClientPayloadError):
        await (await client.get("/x")).read()

    assert b'route="x",status="499"' in client.app[METRICS].page()
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


async def test_error_pages_have_the_navigation_unless_it_would_be_seen_by_others(runtime):
    await runtime.lists.make("Private list", "")

    async def page(request: web.Request) -> web.Response:
        raise RuntimeError

    async def has_navigation(client, method, path, **headers):
        answer = await client.request(method, path, headers=headers, allow_redirects=False)
        return answer.status, "Private list" in await answer.text()

    entry = f"/{'0' * 32}/"
    async with client_of(runtime, routes=(*ROUTES, web.get("/fails", page))) as client:
        assert await has_navigation(client, "GET", "/nothing") == (404, True)
        assert await has_navigation(client, "GET", entry) == (404, True)
        assert await has_navigation(client, "GET", "/web/2020/http://a.example/") == (404, True)
        assert await has_navigation(client, "GET", "/fails") == (500, True)
        other = {"Origin": "https://evil.example"}
        assert await has_navigation(client, "POST", "/tags", **other) == (403, True)
        framed = {"Sec-Fetch-Dest": "iframe"}
        assert await has_navigation(client, "GET", "/nothing", **framed) == (404, False)
        rebound = {"Host": "evil.example"}
        assert await has_navigation(client, "GET", "/nothing", **rebound) == (421, False)
        await runtime.access.set_password("a long password")
        assert await has_navigation(client, "POST", "/nothing") == (401, False)
