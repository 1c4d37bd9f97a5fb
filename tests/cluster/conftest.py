"""A real S3 server on loopback, one for each process of tests, and a bucket for each test.

PostgreSQL runs already (``.ci/with-postgres``): each test gets a database of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import obstore
import pytest
from obstore.store import S3Store

from archiver.config import Settings
from tests.cluster.archives import elsewhere
from tests.cluster.fickle import Fickle
from tests.cluster.s3_servers import REGION, Moto, s3_server
from tests.postgres import SERVER, administer


@dataclass(frozen=True)
class Store:
    """A place in a bucket: its address, who stands before it, and who can get past that."""

    bucket: str
    server: Moto
    fickle: Fickle

    @property
    def address(self) -> str:
        return f"s3://{self.bucket}/kept"

    @property
    def objects(self) -> S3Store:
        """The objects themselves, past the proxy."""
        endpoint = f"http://127.0.0.1:{self.server.port}"
        options = {"allow_http": True}
        return S3Store(self.bucket, prefix="kept", endpoint=endpoint, client_options=options)

    def names(self) -> list[str]:
        return sorted(each["path"] for some in obstore.list(self.objects) for each in some)

    def read(self, name: str) -> bytes:
        return bytes(obstore.get(self.objects, name).bytes())

    def write(self, name: str, data: bytes) -> None:
        obstore.put(self.objects, name, data)

    def remove(self, name: str) -> None:
        obstore.delete(self.objects, name)

    def drop(self) -> None:
        """Have no bucket any more."""
        self.server.drop_bucket(self.bucket)


@pytest.fixture(scope="session")
def server() -> Iterator[Moto]:
    with s3_server() as running:
        yield running


@pytest.fixture
def store(server, monkeypatch) -> Iterator[Store]:
    """A bucket of its own, behind a proxy that can be told to misbehave."""
    name = f"bucket-{uuid4().hex[:12]}"
    server.make_bucket(name)
    with Fickle(server.port) as fickle:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{fickle.port}")
        monkeypatch.setenv("AWS_REGION", REGION)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.access)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.secret)
        yield Store(name, server, fickle)


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


@pytest.fixture
def here(settings: Settings, address: str) -> Settings:
    """A machine whose archive is others', too."""
    return replace(settings, index=address, crawl_processes=1)


@pytest.fixture
def there(here: Settings, tmp_path: Path) -> Settings:
    """Another machine at the same archive."""
    return elsewhere(here, tmp_path / "b")
