"""A real S3 server on loopback for each test process, and a bucket for each test.

PostgreSQL is already running (``.ci/with-postgres``); each test gets a separate database.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import obstore
import pytest
from obstore.store import S3Store

from archiver.config import Settings
from archiver.crawl import dispatcher
from tests.cluster.faulty_proxy import FaultyProxy
from tests.cluster.s3_servers import REGION, Moto, s3_server
from tests.postgres import empty_index


@dataclass(frozen=True)
class Store:
    """A location in a bucket behind a proxy, with its credentials."""

    bucket: str
    server: Moto
    proxy: FaultyProxy

    @property
    def address(self) -> str:
        return f"s3://{self.bucket}/kept"

    @property
    def objects(self) -> S3Store:
        """Return the objects directly, not through the proxy."""
        endpoint = f"http://127.0.0.1:{self.server.port}"
        options = {"allow_http": True}
        return S3Store(self.bucket, prefix="kept", endpoint=endpoint, client_options=options)

    def names(self) -> list[str]:
        return sorted(each["path"] for batch in obstore.list(self.objects) for each in batch)

    def read(self, name: str) -> bytes:
        return bytes(obstore.get(self.objects, name).bytes())

    def write(self, name: str, data: bytes) -> None:
        obstore.put(self.objects, name, data)

    def remove(self, name: str) -> None:
        obstore.delete(self.objects, name)

    def drop(self) -> None:
        """Delete the bucket."""
        self.server.drop_bucket(self.bucket)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    """Wait less for lost workers in commands that run in this process; see ``commands.PROGRAM``."""
    monkeypatch.setattr(dispatcher, "RECOVERY_SECONDS", 0.3)


@pytest.fixture(scope="session")
def server() -> Iterator[Moto]:
    with s3_server() as running:
        yield running


@pytest.fixture
def store(server, monkeypatch) -> Iterator[Store]:
    """An empty bucket behind a proxy that can simulate faults."""
    name = f"bucket-{uuid4().hex[:12]}"
    server.make_bucket(name)
    with FaultyProxy(server.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("AWS_REGION", REGION)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.access)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.secret)
        yield Store(name, server, proxy)


@pytest.fixture
def address(shared_directory: Path) -> Iterator[str]:
    """URL of an index in PostgreSQL without rows."""
    with empty_index(shared_directory) as url:
        yield url


@pytest.fixture
def urls(live) -> list[str]:
    """URLs of four pages."""
    return [live.article(name) for name in ("foxes", "bears", "owls", "hares")]


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


@pytest.fixture
def variables_a(address, store, tmp_path) -> dict[str, str]:
    """Environment variables of a machine of a shared archive."""
    shared = {"ARCHIVER_INDEX": address, "ARCHIVER_STORE": store.address}
    return shared | {"ARCHIVER_DATA": str(tmp_path / "a")}


@pytest.fixture
def variables_b(variables_a, tmp_path) -> dict[str, str]:
    """Environment variables of another machine of the same archive."""
    (tmp_path / "b").mkdir()
    return variables_a | {"ARCHIVER_DATA": str(tmp_path / "b")}


@pytest.fixture
def machine_a(settings: Settings, address: str) -> Settings:
    """A machine of a shared archive."""
    return replace(settings, index=address, crawl_processes=1)
