"""A proxy in front of an S3 server that simulates faults: refusals, full storage, wrong bytes."""

import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

_HOP = {"connection", "transfer-encoding", "keep-alive"}


class FaultyProxy:
    """A proxy on a separate port.

    Attributes:
        requests: methods and paths of requests, in order.
        failing: methods that fail, each with the status of its response.
        code: error code of the store.
        spoil: function that changes the body of GET responses.
        heard: function that is called with method and path when a request arrives.
        answered: function that is called with them when the server has responded, before the
            response is passed on to the client.
    """

    def __init__(self, behind: int) -> None:
        self.requests: list[tuple[str, str]] = []
        self.failing: dict[str, int] = {}
        self.code = ""
        self.spoil = bytes
        self.heard = self.answered = _do_nothing
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, behind))
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def count(self, method: str) -> int:
        return sum(each == method for each, _ in self.requests)


def _do_nothing(method: str, path: str) -> object:
    """Do nothing when a request arrives, or was answered."""


def _handler(proxy: FaultyProxy, behind: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            proxy.requests.append((self.command, self.path))
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            proxy.heard(self.command, self.path)
            if status := proxy.failing.get(self.command):
                self.send(status, [], f"<Error><Code>{proxy.code}</Code></Error>".encode())
                return
            upstream = HTTPConnection("127.0.0.1", behind, timeout=30)
            try:
                upstream.putrequest(
                    self.command, self.path, skip_host=True, skip_accept_encoding=True
                )
                for name, value in self.headers.items():
                    upstream.putheader(name, value)
                upstream.endheaders(body)
                result = upstream.getresponse()
                data = result.read()
            finally:
                upstream.close()
            proxy.answered(self.command, self.path)
            if self.command == "GET" and "list-type" not in self.path:
                data = proxy.spoil(data)
            self.send(result.status, result.getheaders(), data)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815 - http.server's names

        def send(self, status: int, headers: list[tuple[str, str]], data: bytes) -> None:
            self.send_response_only(status)
            lengths = [value for name, value in headers if name.lower() == "content-length"]
            for name, value in headers:
                if name.lower() not in _HOP | {"content-length"}:
                    self.send_header(name, value)
            is_head = self.command == "HEAD"
            self.send_header(
                "Content-Length", lengths[0] if is_head and lengths else str(len(data))
            )
            self.end_headers()
            if not is_head:
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler
