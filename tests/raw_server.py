"""Servers on loopback that send exactly the bytes they are given."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]


@asynccontextmanager
async def raw_connections(serve: Serve) -> AsyncIterator[tuple[str, list[asyncio.StreamWriter]]]:
    """Call ``serve`` for each connection, with its number; yield the origin and the connections."""
    connections, running = [], set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        running.add(asyncio.current_task())
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await serve(reader, writer, len(connections))
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", connections
    finally:
        server.close()
        for each in connections:
            each.close()
        await asyncio.gather(*running, return_exceptions=True)


@asynccontextmanager
async def raw_web(respond: Callable[[bytes], bytes]) -> AsyncIterator[str]:
    """Run a server that sends the bytes that ``respond`` returns for a target; yield its origin."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            writer.write(respond(request.split(b" ", 2)[1]))
            await writer.drain()

    async with raw_connections(serve) as (origin, _):
        yield origin
