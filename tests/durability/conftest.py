"""A service that captures two pages while all its system calls are traced."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.cookiejar import CookieJar
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from tests.system_calls import SENDS, Call, Trace, traced_process

SENTENCE = "<p>The {0} keeps to itself, and whoever writes of it has waited for a long time.</p>"
PAGE = """<!DOCTYPE html><title>About {0}</title><link rel="stylesheet" href="/style.css">
<article><h1>About {0}</h1>{1}</article>"""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.strip("/")
        if name == "favicon.ico":
            self.send_error(404)
            return
        is_page = name != "style.css"
        text = PAGE.format(name, SENTENCE.format(name) * 8) if is_page else "p { color: #123 }"
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if is_page else "text/css")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        """Log nothing."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """An acknowledgement to a client: the URL, whether it is saved, and the call that sent it."""

    url: str
    is_saved: bool
    call: Call


@dataclass(frozen=True, slots=True)
class TracedRun:
    """A run of the program: its data directory, system calls, and acknowledgements."""

    data: Path
    calls: list[Call]
    acknowledged: list[Acknowledged]


@pytest.fixture(scope="session")
def pages() -> Iterator[str]:
    """Serve a small site; yield its origin."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def environment(data: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "ARCHIVER_DATA": str(data),
        "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
        "ARCHIVER_HOST_DELAY": "0",
    }


def sending_call(calls: list[Call], *pieces: str) -> Call:
    """Return the first call that sent all of these."""
    return next(
        call
        for call in calls
        if call.name in SENDS
        and call.path.startswith(("socket:", "pipe:"))
        and all(piece.encode() in call.data for piece in pieces)
    )


class Client:
    """A simple client."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._open = build_opener(HTTPCookieProcessor(CookieJar())).open

    def request(self, path: str, data: bytes | None = None, kind: str = "") -> str:
        headers = {"Accept-Encoding": "identity"} | ({"Content-Type": kind} if kind else {})
        with self._open(Request(self._base + path, data, headers), timeout=60) as response:
            return response.read().decode()

    def add_by_form(self, url: str) -> None:
        """Save a URL with the form."""
        form = {"url": url, "tags": "of the form"}
        assert self.request("/add", urlencode(form).encode())

    def add_by_api(self, url: str) -> None:
        """Save a URL with the API."""
        self.request("/api/v1/entries", json.dumps({"urls": [url]}).encode(), "application/json")

    def wait_until_saved(self, job: int) -> None:
        """Wait until a job is finished."""
        assert '"saved"' in self.request(f"/api/v1/events?jobs={job}")


@pytest.fixture(scope="session")
def served(pages: str, tmp_path_factory: pytest.TempPathFactory) -> TracedRun:
    """A service that saved a page by the form and one by the API, and was stopped."""
    directory = tmp_path_factory.mktemp("served")
    data, trace = directory / "data", Trace(directory / "calls")
    first, second = f"{pages}/foxes", f"{pages}/bears"
    command = trace.command(sys.executable, "-m", "archiver", "serve", "--port", "0")
    with subprocess.Popen(
        command, env=environment(data), stdout=subprocess.PIPE, text=True
    ) as strace:
        base = re.search(r"http://\S+?(?=/?\s)", strace.stdout.readline())[0]
        service, client = traced_process(strace.pid), Client(base)
        try:
            client.add_by_form(first)
            client.wait_until_saved(1)
            client.add_by_api(second)
            client.wait_until_saved(2)
        finally:
            service.terminate()
    calls = trace.calls()
    return TracedRun(
        data,
        calls,
        [
            Acknowledged(first, False, sending_call(calls, "HTTP/1.1 303", "/?jobs=1")),
            Acknowledged(first, True, sending_call(calls, first, '"state":"saved"')),
            Acknowledged(second, False, sending_call(calls, "HTTP/1.1 202")),
            Acknowledged(second, True, sending_call(calls, second, '"state":"saved"')),
        ],
    )


@pytest.fixture(scope="session")
def traced_add(pages: str, tmp_path_factory: pytest.TempPathFactory) -> TracedRun:
    """A run of ``archiver add``."""
    directory = tmp_path_factory.mktemp("added")
    data, trace = directory / "data", Trace(directory / "calls")
    url = f"{pages}/owls"
    command = trace.command(sys.executable, "-m", "archiver", "add", url)
    subprocess.run(command, env=environment(data), stdout=subprocess.PIPE, check=True, timeout=120)
    calls = trace.calls()
    return TracedRun(
        data, calls, [Acknowledged(url, True, sending_call(calls, "\tsaved\tAbout owls"))]
    )
