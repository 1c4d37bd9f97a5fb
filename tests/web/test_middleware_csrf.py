from io import BytesIO
from urllib.parse import urlencode

from aiohttp import FormData, web


async def add(request: web.Request) -> web.Response:
    return web.Response(text=f"added {(await request.post())['url']}")


async def api(request: web.Request) -> web.Response:
    return web.json_response(await request.json())


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ROUTES = (web.post("/add", add), web.post("/api/v1/x", api))


async def test_requests_from_other_sites_are_rejected(serve):
    client = await serve(*ROUTES)
    host = f"127.0.0.1:{client.port}"
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "http://[bad"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://HOST"},
    ):
        for path in ("/add", "/api/v1/x"):
            sent = {name: value.replace("HOST", host) for name, value in headers.items()}
            fields = {"url": "u"}

            answer = await client.post(path, data=fields, headers=sent)

            assert answer.status == 403, (headers, path)
            body = await answer.text()
            assert "This request came from another site, so nothing was changed." in body, (
                headers,
                path,
            )
            assert "try again" in body, (headers, path)


async def test_requests_from_own_pages_are_accepted(serve):
    client = await serve(*ROUTES)
    host = f"127.0.0.1:{client.port}"
    for headers in (
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://proxy.example"},
        {"Origin": "http://HOST"},
    ):
        sent = {name: value.replace("HOST", host) for name, value in headers.items()}

        answer = await client.post("/add", data={"url": "u"}, headers=sent)

        assert answer.status == 200, headers


async def test_a_form_of_another_type_is_415(serve):
    client = await serve(*ROUTES)
    upload = FormData()
    upload.add_field("file", b"x", filename="x")

    assert (await client.post("/add", data=upload)).status == 415
    assert (await client.post("/add", data=b"url=u")).status == 415
    latin = {"Content-Type": "application/x-www-form-urlencoded; charset=latin-1"}
    assert (await client.post("/add", data=b"url=u", headers=latin)).status == 415


async def test_a_form_that_is_not_utf8_is_400(serve):
    client = await serve(*ROUTES)

    assert (await client.post("/add", data=b"url=\xff", headers=FORM)).status == 400


async def test_ten_thousand_lines_fit_and_ten_million_bytes_do_not(serve):
    client = await serve(*ROUTES)
    lines = "\r\n".join(f"https://example.com/{'x' * 100}?q={n}" for n in range(10_000))

    for times, status in ((1, 200), (10, 413)):
        body = BytesIO(urlencode({"url": lines * times}).encode())
        assert (await client.post("/add", data=body, headers=FORM)).status == status


async def test_a_form_with_a_million_fields_is_rejected(serve):
    client = await serve(*ROUTES)

    answer = await client.post("/add", data=BytesIO(b"a&" * 1_000_000), headers=FORM)

    assert answer.status in {400, 413}
