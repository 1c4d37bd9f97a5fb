"""S3 server for the tests: moto, a process on loopback that keeps objects in memory."""

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

CI = Path(__file__).parents[2] / ".ci"
REGION = "us-east-1"
_CALLS_FOR_A_USER = 30
"""Number of first calls that moto accepts unsigned; creating a user takes a few of them."""


@dataclass
class Moto:
    """A server with buckets in memory; it checks signatures after a number of unsigned calls."""

    port: int
    access: str
    secret: str

    def make_bucket(self, name: str) -> None:
        self._unsigned("PUT", name)

    def drop_bucket(self, name: str) -> None:
        result = self._unsigned("GET", f"{name}?list-type=2").decode()
        for each in result.split("<Key>")[1:]:
            self._unsigned("DELETE", f"{name}/{each.partition('<')[0]}")
        self._unsigned("DELETE", name)

    def _unsigned(self, method: str, path: str) -> bytes:
        _call(self.port, "POST", "moto-api/reset-auth", b"1")
        return _call(self.port, method, path)


def _call(
    port: int,
    method: str,
    path: str,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
) -> bytes:
    with closing(HTTPConnection("127.0.0.1", port, timeout=600)) as connection:
        connection.request(method, f"/{path}", body, headers or {})
        response = connection.getresponse()
        body = response.read()
        assert response.status < 300, body
        return body


@contextmanager
def s3_server() -> Iterator[Moto]:
    """Run a server while the block runs."""
    port = free_port()
    unsigned = {"INITIAL_NO_AUTH_ACTION_COUNT": str(_CALLS_FOR_A_USER)}
    program = f"{_installed('moto')}/moto_server"
    with _running([program, "--host", "127.0.0.1", "--port", str(port)], port, **unsigned):
        _identity(port, "CreateUser")
        allowed = {"Effect": "Allow", "Action": "*", "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
        _identity(port, "PutUserPolicy", PolicyName="all", PolicyDocument=policy)
        key = _identity(port, "CreateAccessKey")
        _call(port, "POST", "moto-api/reset-auth", b"0")
        access, secret = (
            re.search(f"<{name}>(.*?)</{name}>", key)[1]
            for name in ("AccessKeyId", "SecretAccessKey")
        )
        yield Moto(port, access, secret)


def _identity(port: int, action: str, **more: str) -> str:
    """Call the identity service for a user; calls are unsigned at first."""
    query = {"Action": action, "Version": "2010-05-08", "UserName": "archiver-tests", **more}
    scope = f"Credential=any/20200101/{REGION}/iam/aws4_request"
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Authorization": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0",
    }
    return _call(port, "POST", "", urlencode(query).encode(), headers).decode()


def _installed(name: str) -> str:
    return subprocess.run([CI / name], check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def _running(command: list[str], port: int, **variables: str) -> Iterator[None]:
    process = subprocess.Popen(
        command,
        env=os.environ | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_it_answers(process, port)
        yield
    finally:
        process.terminate()
        process.wait(timeout=600)


def _wait_until_it_answers(process: "subprocess.Popen[bytes]", port: int) -> None:
    while True:
        with suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
        assert process.poll() is None, "the S3 server ended"


def free_port() -> int:
    with closing(socket.socket()) as result:
        result.bind(("127.0.0.1", 0))
        return result.getsockname()[1]
