"""A real S3 server on loopback, one for each process of tests, and a bucket for each test.

PostgreSQL runs already (``.ci/with-postgres``): each test gets a database of its own.
"""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from archiver.config import Settings
from tests.cluster.fickle import Fickle
from tests.in_postgres import SERVER, administer

ROOT = Path(__file__).parents[2]
ACCESS, SECRET = "archiver-tests", "a-secret-of-tests"


@dataclass(frozen=True)
class Store:
    """A bucket: its address, the folder where the server has it, and who stands before that."""

    address: str
    folder: Path
    fickle: Fickle

    def names(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "kept").glob("*"))


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[tuple[Path, int]]:
    """Where the server has its buckets, and its port."""
    found = subprocess.run([ROOT / ".ci" / "versitygw"], check=True, capture_output=True, text=True)
    folder, sidecar = tmp_path_factory.mktemp("buckets"), tmp_path_factory.mktemp("sidecar")
    port = free_port()
    process = subprocess.Popen(
        [
            *(found.stdout.strip(), "--quiet", "--health", "/health"),
            *("--port", f"127.0.0.1:{port}", "--access", ACCESS, "--secret", SECRET),
            *("posix", "--sidecar", str(sidecar), str(folder)),
        ],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until_it_answers(process, port)
        yield folder, port
    finally:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def store(server, monkeypatch) -> Iterator[Store]:
    """A bucket of its own, behind a proxy that can be told to misbehave."""
    buckets, port = server
    name = f"bucket-{uuid4().hex[:12]}"
    (buckets / name).mkdir()
    with Fickle(port) as fickle:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{fickle.port}")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        yield Store(f"s3://{name}/kept", buckets / name, fickle)


@pytest.fixture
def address() -> Iterator[str]:
    """A database of PostgreSQL that has nothing in it."""
    name = f"index_{uuid4().hex[:12]}"
    administer(f"CREATE DATABASE {name}")
    yield f"{SERVER}/{name}"
    administer(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def settings(store, tmp_path) -> Settings:
    return Settings(
        data=tmp_path / "a",
        store=store.address,
        allow_networks="127.0.0.0/8",
        host_delay=0,
        retries=0,
        render="never",
    )


def wait_until_it_answers(process: subprocess.Popen[bytes], port: int) -> None:
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
