"""Crawls good hosts alone, then mixed with as many bad ones; compares the time for the good ones.

Usage: python -m benchmarks.bad_hosts [--hosts N] [--pages N]

Bad hosts: an unreachable address, and hosts that accept without a response, send a byte per
second, send without end, redirect without end, declare a wrong length, or send a decompression
bomb (factor 1,000). Every host is a different loopback address (127.x.y.z) with the same number
of pages. The crawl uses the default settings except for the allowed networks.
"""

import argparse
import asyncio
import gzip
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks.capture import run

PORT = 18_080
LOOK_SECONDS = 0.1
BOMB = gzip.compress(bytes(64 << 20))
KINDS = ("dead", "hanging", "trickling", "endless", "redirecting", "lying", "bomb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=56, help="good ones, and as many bad ones")
    parser.add_argument("--pages", type=int, default=10, help="of each host")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    server = multiprocessing.get_context("fork").Process(target=serve, daemon=True)
    server.start()
    time.sleep(0.5)
    good = [url for n in range(options.hosts) for url in pages("good", 1, n, options.pages)]
    bad = [
        url
        for n in range(options.hosts)
        for url in pages(KINDS[n % len(KINDS)], 2, n, options.pages)
    ]
    mixed = [url for pair in zip(good, bad, strict=True) for url in pair]
    for _ in range(options.runs):
        alone, among = crawl(good, len(good)), crawl(mixed, len(good))
        print(f"good ones alone       {alone:6.1f} s")
        print(f"good ones among bad   {among:6.1f} s")
        print(f"ratio                 {among / alone:6.2f}")
    server.kill()


def pages(kind: str, net: int, number: int, count: int) -> list[str]:
    """Return the URLs of a host. An unreachable host has an address without a server."""
    address = f"127.{net}.{number // 250}.{number % 250 + 1}"
    if kind == "dead":
        address = f"198.51.100.{number % 250 + 1}"  # TEST-NET-2 (RFC 5737)
    return [f"http://{address}:{PORT}/{kind}/{page}" for page in range(count)]


def crawl(urls: list[str], good: int) -> float:
    """Return the seconds until every good page is saved."""
    with tempfile.TemporaryDirectory() as directory:
        environment = os.environ | {
            "ARCHIVER_DATA": f"{directory}/data",
            "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8,198.51.100.0/24",
        }
        listing = Path(directory) / "urls.txt"
        listing.write_text("\n".join(urls))
        run(["import", str(listing), "--no-crawl"], environment)
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "archiver", "crawl"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while process.poll() is None and saved(Path(directory) / "data") < good:
                time.sleep(LOOK_SECONDS)
            return time.perf_counter() - started
        finally:
            process.kill()
            process.wait()


def saved(data: Path) -> int:
    """Return the number of saved good pages, without disturbing the crawl."""
    with closing(sqlite3.connect(f"file:{data}/archive.sqlite3?mode=ro", uri=True)) as conn:
        counted = conn.execute(
            "SELECT count(*) FROM entry WHERE state = 'saved' AND url LIKE '%/good/%'"
        )
        return int(counted.fetchone()[0])


def serve() -> None:
    """Serve on every loopback address; the path selects the behaviour."""
    asyncio.run(_serve())


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "0.0.0.0", PORT, backlog=4096)
    await server.serve_forever()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            path = line.split(b" ")[1].decode()
            await _ANSWERS.get(path.split("/")[1], _missing)(writer, path)
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError, IndexError):
        pass
    finally:
        writer.close()


def _head(*fields: str, kind: str = "text/plain") -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", f"Content-Type: {kind}", *fields, "", ""]).encode()


async def _good(writer: asyncio.StreamWriter, path: str) -> None:
    words = f"<p>What the page at {path} has to say, at some length, to whoever reads it.</p>" * 20
    body = f"<!DOCTYPE html><title>{path}</title><article>{words}</article>".encode()
    writer.write(_head(f"Content-Length: {len(body)}", kind="text/html") + body)


async def _missing(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


async def _hanging(_writer: asyncio.StreamWriter, _path: str) -> None:
    await asyncio.sleep(3600)


async def _trickling(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.write(_head("Content-Length: 100000"))
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(1)


async def _endless(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.write(_head())
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()
        await asyncio.sleep(0.05)


async def _redirecting(writer: asyncio.StreamWriter, path: str) -> None:
    writer.write(f"HTTP/1.1 302 Found\r\nLocation: {path}x\r\nContent-Length: 0\r\n\r\n".encode())


async def _lying(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.write(_head("Content-Length: 1000000") + b"short")
    await writer.drain()
    writer.close()


async def _bomb(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.write(_head("Content-Encoding: gzip", f"Content-Length: {len(BOMB)}") + BOMB)


_ANSWERS = {
    "good": _good,
    "hanging": _hanging,
    "trickling": _trickling,
    "endless": _endless,
    "redirecting": _redirecting,
    "lying": _lying,
    "bomb": _bomb,
}


if __name__ == "__main__":
    main()
