"""Serves pages to benchmarks, in a process of its own so that it does not count as ours."""

import multiprocessing
import random
import re
import socket
import zlib
from types import TracebackType
from typing import Self

from aiohttp import web

_ABSOLUTE = re.compile(rb"(?:https?:)?//(?=[a-zA-Z0-9])")
_WORDS = (
    "archive paper river stone window winter garden letter morning signal copper harbour".split()
)
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class PageServer:
    """Serves ``/name/`` for each page and something small for everything else."""

    def __init__(self, pages: dict[str, bytes]) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        lead = f"{self.base}/".encode()
        self._pages = {name: _ABSOLUTE.sub(lead, page) for name, page in pages.items()}
        self._process = multiprocessing.get_context("fork").Process(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.join()
        self._socket.close()

    def _serve(self) -> None:
        app = web.Application()
        app.router.add_get("/{tail:.*}", self._answer)
        web.run_app(app, sock=self._socket, print=None, access_log=None)

    async def _answer(self, request: web.Request) -> web.Response:
        name = request.path.strip("/")
        if name in self._pages:
            return web.Response(body=self._pages[name], content_type="text/html", charset="utf-8")
        mark = f"{zlib.crc32(request.raw_path.encode()):08x}"
        if ".css" in request.path:
            return web.Response(text=f".c{mark} {{ color: #{mark[:6]} }}", content_type="text/css")
        return web.Response(body=_PIXEL + mark.encode(), content_type="image/png")


def made_up(count: int) -> dict[str, bytes]:
    """Pages of about 20 kB with an article, a style sheet and three images each."""
    return {f"page-{n}": _page(n).encode() for n in range(count)}


def _page(number: int) -> str:
    chance = random.Random(number)
    paragraphs = "".join(
        f"<p>{' '.join(chance.choices(_WORDS, k=90)).capitalize()}, and so on.</p>"
        for _ in range(30)
    )
    images = "".join(f"<img src='/image-{number}-{n}.png' alt=''>" for n in range(3))
    return (
        f"<!DOCTYPE html><html lang='en'><head><title>Page {number}</title>"
        f"<link rel='stylesheet' href='/style.css'></head><body><nav><a href='/'>Start</a></nav>"
        f"<article><h1>Page {number}</h1>{images}{paragraphs}</article></body></html>"
    )
