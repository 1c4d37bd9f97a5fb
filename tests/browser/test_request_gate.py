"""WebSocket connections through the request gate."""

import asyncio
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest

from archiver.browser.request_gate import connect, make_gate_key
from archiver.config import Settings
from archiver.errors import FetchError
from archiver.http.fetcher import Fetcher


@asynccontextmanager
async def echoing(tls):
    async def answer(reader, writer):
        writer.write(await reader.readline())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_sent_data_is_returned(tmp_path):
    settings = Settings(data=tmp_path, allow_networks=(ip_network("127.0.0.0/8"),))
    async with echoing(None) as port, Fetcher(settings) as fetcher:
        reader, writer = await connect(fetcher, settings, "127.0.0.1", port, is_tls=False)
        writer.write(b"there and back\n")

        assert await reader.readline() == b"there and back\n"
        writer.close()


async def test_an_untrusted_certificate_is_refused(tmp_path):
    settings = Settings(data=tmp_path, allow_networks=(ip_network("127.0.0.0/8"),))
    async with echoing(make_gate_key().tls) as port, Fetcher(settings) as fetcher:
        with pytest.raises(FetchError, match="certificate"):
            await connect(fetcher, settings, "127.0.0.1", port, is_tls=True)


async def test_a_private_address_is_refused(tmp_path):
    settings = Settings(data=tmp_path)
    async with echoing(None) as port, Fetcher(settings) as fetcher:
        with pytest.raises(FetchError):
            await connect(fetcher, settings, "127.0.0.1", port, is_tls=False)
