"""Two S3 servers that others wrote, each a process on loopback: versitygw, and moto.

moto is a Python package and keeps objects in memory. versitygw keeps them as files, and is built by
Go, which takes some minutes, once. ``ARCHIVER_TEST_S3`` says which; without it, it is moto.
"""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from shutil import rmtree
from typing import Protocol

CI = Path(__file__).parents[2] / ".ci"
REGION = "us-east-1"
_NEW_USER = """
import boto3, json, sys
iam = boto3.client("iam", endpoint_url=sys.argv[1], region_name=sys.argv[2],
                   aws_access_key_id="any", aws_secret_access_key="any")
allowed = {"Effect": "Allow", "Action": "*", "Resource": "*"}
policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
try:
    iam.create_user(UserName="archiver-tests")
except iam.exceptions.EntityAlreadyExistsException:
    pass  # it was asked twice
iam.put_user_policy(UserName="archiver-tests", PolicyName="all", PolicyDocument=policy)
key = iam.create_access_key(UserName="archiver-tests")["AccessKey"]
print(json.dumps([key["AccessKeyId"], key["SecretAccessKey"]]))
"""
_CALLS_FOR_A_USER = 30
"""A client asks again what takes long; whatever is left of them is taken back."""


class S3Server(Protocol):
    """A server that runs.

    Attributes:
        port: on loopback.
        access: the key that may do everything.
        secret: its other half.
    """

    port: int
    access: str
    secret: str

    def make_bucket(self, name: str) -> None:
        """Make an empty one."""

    def drop_bucket(self, name: str) -> None:
        """Remove one with what is in it."""


@dataclass
class Versitygw:
    """Buckets are folders."""

    port: int
    folder: Path
    access: str = "archiver-tests"
    secret: str = "a-secret-of-tests"

    def make_bucket(self, name: str) -> None:
        (self.folder / name).mkdir()

    def drop_bucket(self, name: str) -> None:
        rmtree(self.folder / name)


@dataclass
class Moto:
    """Buckets are in memory; it checks signatures, except of so many calls as it is told."""

    port: int
    access: str
    secret: str

    def make_bucket(self, name: str) -> None:
        self._unsigned("PUT", name)

    def drop_bucket(self, name: str) -> None:
        found = self._unsigned("GET", f"{name}?list-type=2").decode()
        for each in found.split("<Key>")[1:]:
            self._unsigned("DELETE", f"{name}/{each.partition('<')[0]}")
        self._unsigned("DELETE", name)

    def _unsigned(self, method: str, path: str) -> bytes:
        _call(self.port, "POST", "moto-api/reset-auth", b"1")
        return _call(self.port, method, path)


def _call(port: int, method: str, path: str, body: bytes = b"") -> bytes:
    with closing(HTTPConnection("127.0.0.1", port, timeout=600)) as connection:
        connection.request(method, f"/{path}", body)
        answer = connection.getresponse()
        said = answer.read()
        assert answer.status < 300, said
        return said


@contextmanager
def s3_server(folder: Path, kind: str = "") -> Iterator[S3Server]:
    """A server, with a folder of its own; of which kind the environment says, if nobody does."""
    port = free_port()
    if (kind or os.environ.get("ARCHIVER_TEST_S3", "moto")) == "moto":
        with _moto(port) as moto:
            yield moto
    else:
        with _versitygw(port, folder) as versitygw:
            yield versitygw


@contextmanager
def _versitygw(port: int, folder: Path) -> Iterator[Versitygw]:
    (folder / "sidecar").mkdir()
    (folder / "buckets").mkdir()
    made = Versitygw(port, folder / "buckets")
    command = [_installed("versitygw"), "--quiet", "--health", "/health"]
    command += ["--port", f"127.0.0.1:{port}", "--access", made.access, "--secret", made.secret]
    command += ["posix", "--sidecar", str(folder / "sidecar"), str(made.folder)]
    with _running(command, port):
        yield made


@contextmanager
def _moto(port: int) -> Iterator[Moto]:
    programs = _installed("moto")
    unsigned = {"INITIAL_NO_AUTH_ACTION_COUNT": str(_CALLS_FOR_A_USER)}
    command = [f"{programs}/moto_server", "--host", "127.0.0.1", "--port", str(port)]
    with _running(command, port, **unsigned):
        user = [f"{programs}/python", "-c", _NEW_USER, f"http://127.0.0.1:{port}", REGION]
        made = subprocess.run(user, check=False, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        _call(port, "POST", "moto-api/reset-auth", b"0")
        yield Moto(port, *json.loads(made.stdout))


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
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
