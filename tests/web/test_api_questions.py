from aiohttp import web

from archiver.web.api.entries import SaveRequest
from archiver.web.api.json_http import json_response, numbers, read_json


async def echo(request: web.Request) -> web.Response:
    return json_response(await read_json(request, SaveRequest))


async def ids(request: web.Request) -> web.Response:
    return json_response(numbers(request, "ids"), shape=list[int])


ROUTES = (web.post("/api/v1/x", echo), web.get("/api/v1/ids", ids))
JSON = {"Content-Type": "application/json"}


async def test_a_valid_body_is_parsed(serve):
    client = await serve(*ROUTES)

    answer = await client.post("/api/v1/x", json={"urls": ["https://a.example/"]})

    assert await answer.json() == {
        "urls": ["https://a.example/"],
        "tags": [],
        "render": False,
    }


async def test_an_invalid_body_is_400_with_the_place(serve):
    client = await serve(*ROUTES)

    for body in (
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b'{"urls": []}',
        b'{"urls": "https://a.example/"}',
        b'{"urls": [1]}',
        b'{"urls": ["a"], "tags": [null]}',
        b'{"urls": ["\xff"]}',
        b'{"urls": ["\\ud800"]}',
        b"[" * 100_000,
        b'{"urls": [' + b'"a",' * 10_000 + b'"a"]}',
    ):
        answer = await client.post("/api/v1/x", data=body, headers=JSON)

        assert answer.status == 400, body
        assert (await answer.json())["error"]["code"] == "invalid_input", body


async def test_a_body_that_is_not_json_is_415(serve):
    client = await serve(*ROUTES)

    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
    ):
        answer = await client.post(
            "/api/v1/x", data=b'{"urls": ["a"]}', headers={"Content-Type": kind}
        )

        assert (answer.status, answer.content_type) == (415, "application/json"), kind


async def test_an_invalid_number_is_400(serve):
    client = await serve(*ROUTES)

    for text in ("x", "-1", "1.5", "٣", "9" * 19, "1," * 1001):
        assert (await client.get("/api/v1/ids", params={"ids": text})).status == 400, text
