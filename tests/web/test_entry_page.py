"""The page of an entry: what is read there, and what it offers."""

import re
from collections.abc import AsyncIterator

import pytest
from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy import text

from archiver.config import Settings
from archiver.runtime import open_runtime
from archiver.urls.parse import hash_url
from archiver.web.app import build_app
from archiver.web.keys import RUNTIME


@pytest.fixture
async def client(tmp_path, live) -> AsyncIterator[TestClient]:
    """The service over an archive of one entry."""
    settings = Settings(data=tmp_path / "data", allow_networks=("127.0.0.0/8",), host_delay=0)
    async with open_runtime(settings) as runtime:
        await runtime.entries.save([live.article("foxes")], source="web")
        await runtime.crawling.work()
        server = TestServer(build_app(runtime), skip_url_asserts=True)
        async with TestClient(server) as client:
            yield client


async def page_of(client, path):
    return await (await client.get(path)).text()


async def send(client, path, *fields, page):
    token = re.search(r'name="csrf_token" value="([^"]+)"', await page_of(client, page))[1]
    async with client.post(path, data=[("csrf_token", token), *fields]) as answer:
        return answer.status, answer.url.path_qs, await answer.text()


async def test_what_an_older_reader_has_read_is_offered_to_be_read_again(client, live):
    path = f"/{hash_url(live.url('/foxes'))}/"
    assert "Read it again" not in await page_of(client, path)
    async with client.server.app[RUNTIME].articles._context.db.write() as conn:
        await conn.execute(text("UPDATE snapshot SET extractor = '1'"))
    assert "Read it again" in await page_of(client, path)

    status, here, page = await send(client, f"{path}read-again", page=path)

    assert (status, here, "Read it again" in page) == (200, path, False)
    assert "lost in time" in page
