"""A server on loopback that sends exactly the bytes it is given."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def raw_web(respond: Callable[[bytes], bytes]) -> AsyncIterator[str]:
    """Respond to each request target with raw bytes; yield the origin."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    request = await reader.readuntil(b"\r\n\r\n")
                    writer.write(respond(request.split(b" ", 2)[1]))
                    await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()
