"""Local website, and the program's commands."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.command_line import CompletedCommand, run_command

Run = Callable[..., CompletedCommand]

ARTICLE = """<!DOCTYPE html><html lang="en"><head><title>About {name}</title></head><body>
<article><h1>About {name}</h1>{paragraphs}</article></body></html>"""
SENTENCE = (
    "<p>The {name} is an animal that many people have written about, in books and in letters, "
    "because it is clever, shy and hard to find when the nights are long and the woods dark.</p>"
)


class Site(ThreadingHTTPServer):
    """Serves articles about animals; ``/missing`` is not there, ``/slow`` never answers.

    ``/moved/foxes`` leads to ``/foxes``.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.slow_requested = threading.Event()
        self.closing = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        if self.path == "/slow":
            self.server.slow_requested.set()
            self.server.closing.wait()
            return
        if self.path in {"/missing", "/favicon.ico"}:
            self.send_error(404)
            return
        if self.path.startswith("/moved"):
            self.send_response(301)
            self.send_header("Location", self.path.removeprefix("/moved"))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        name = self.path.strip("/")
        body = ARTICLE.format(name=name, paragraphs=SENTENCE.format(name=name) * 5).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


def _variables(data: Path) -> dict[str, str]:
    return {
        "ARCHIVER_DATA": str(data),
        "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
        "ARCHIVER_HOST_DELAY": "0",
        "ARCHIVER_RETRIES": "0",
    }


@pytest.fixture(scope="session")
def command() -> Callable[..., dict[str, object]]:
    """Return the arguments of ``subprocess`` that run the program on a data directory."""

    def arguments_of(data: Path, *arguments: str) -> dict[str, object]:
        return {
            "args": [sys.executable, "-m", "archiver", *arguments],
            "env": {**os.environ, **_variables(data)},
            "text": True,
        }

    return arguments_of


@pytest.fixture(scope="session")
def run_in() -> Run:
    """Run a command on a data directory, in this process."""

    def run(data: Path, *arguments: str, **options: object) -> CompletedCommand:
        return run_command(*arguments, variables=_variables(data), **options)

    return run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archive") / "data"


@pytest.fixture(scope="module")
def archiver(run_in: Run, data: Path) -> Run:
    """Run a command on this module's archive."""
    return partial(run_in, data)
