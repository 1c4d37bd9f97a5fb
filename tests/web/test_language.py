"""Selection of the language of pages."""

import re
from dataclasses import replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient


@pytest.fixture
def settings(settings):
    return replace(settings, language="fr")


async def language(client: TestClient, accept: str = "") -> str:
    page = await (await client.get("/tags", headers={"Accept-Language": accept})).text()
    (tag,) = re.findall(r'<html lang="([^"]+)" dir="ltr"', page)
    return tag


async def choose(client: TestClient, tag: str, page: str = "/tags?x=1") -> web.Response:
    address = client.make_url(page)
    return await client.post(
        "/language",
        data={"language": tag},
        headers={"Referer": str(address)},
        allow_redirects=False,
    )


async def test_the_chosen_language_precedes_the_browsers_and_the_setting(client):
    assert await language(client) == "fr"
    assert await language(client, "pt") == "fr"
    assert await language(client, "de") == "de"

    await choose(client, "zh-Hans")

    assert await language(client, "de") == "zh-Hans"


async def test_choosing_a_language_never_redirects_to_another_site(client):
    for before in ("https://b.example/tags", "", "http://[", "//b.example/"):
        answer = await client.post(
            "/language",
            data={"language": "de"},
            headers={"Referer": before},
            allow_redirects=False,
        )

        assert answer.headers["Location"] == "/", before


async def test_vary_names_the_headers_that_choose_the_language(client):
    answer = await client.get("/tags")

    assert {"Accept-Language", "Cookie"} <= set(answer.headers["Vary"].split(", "))
    assert answer.headers["Cache-Control"] == "private, no-cache"


async def test_error_pages_are_translated_and_api_errors_are_english(client):
    headers = {"Accept-Language": "de"}
    page = await (await client.get("/nothing-here", headers=headers)).text()
    error = await (await client.get(f"/api/v1/entries/{'0' * 32}", headers=headers)).json()

    assert "Unter dieser Adresse gibt es keine Seite." in page
    assert error["error"]["message"] == f"{'0' * 32} is not in the archive."
