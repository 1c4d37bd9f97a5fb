"""The two clients this service descends from, in today's idiom. Neither keeps a byte.

Usage: python -m benchmarks.ancestors gather|pool BASE URLS CONCURRENCY
"""

import asyncio
import sys

import aiohttp
import uvloop


async def gather(base: str, urls: int, concurrency: int) -> int:
    """*Making 1 million requests*: a semaphore, a task a URL, one gather; asyncio's own loop."""
    turns = asyncio.Semaphore(concurrency)
    errors = 0

    async def fetch(session: aiohttp.ClientSession, url: str) -> None:
        nonlocal errors
        async with turns:
            try:
                async with session.get(url) as response:
                    await response.read()
            except aiohttp.ClientError:
                errors += 1

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(
            *(asyncio.ensure_future(fetch(session, f"{base}/{n}")) for n in range(urls))
        )
    return errors


async def pool(base: str, urls: int, concurrency: int) -> int:
    """*Making 100 million requests*: so many workers over one iterator; uvloop."""
    waiting = iter(range(urls))
    errors = 0

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal errors
        for n in waiting:
            try:
                async with session.get(f"{base}/{n}") as response:
                    await response.read()
            except aiohttp.ClientError:
                errors += 1

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(work(session) for _ in range(concurrency)))
    return errors


def main() -> None:
    name, base, urls, concurrency = sys.argv[1:]
    if name == "gather":
        errors = asyncio.run(gather(base, int(urls), int(concurrency)))
    else:
        errors = uvloop.run(pool(base, int(urls), int(concurrency)))
    print(errors)


if __name__ == "__main__":
    main()
