"""The two download clients that inspired this project, in current idiom; both store nothing.

Usage: python -m benchmarks.simple_clients gather|pool LIST CONCURRENCY
"""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

import aiohttp
import uvloop


async def gather(urls: Iterable[str], concurrency: int) -> int:
    """Run *Making 1 million requests*: a semaphore, a task per URL, one gather, asyncio's loop."""
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
        await asyncio.gather(*(asyncio.ensure_future(fetch(session, url)) for url in urls))
    return errors


async def pool(urls: Iterable[str], concurrency: int) -> int:
    """Run *Making 100 million requests*: a fixed number of workers over one iterator, uvloop."""
    waiting = iter(urls)
    errors = 0

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal errors
        for url in waiting:
            try:
                async with session.get(url) as response:
                    await response.read()
            except aiohttp.ClientError:
                errors += 1

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(work(session) for _ in range(concurrency)))
    return errors


def main() -> None:
    name, listing, concurrency = sys.argv[1:]
    with Path(listing).open() as file:
        urls = (line.strip() for line in file)
        if name == "gather":
            errors = asyncio.run(gather(urls, int(concurrency)))
        else:
            errors = uvloop.run(pool(urls, int(concurrency)))
    print(errors)


if __name__ == "__main__":
    main()
