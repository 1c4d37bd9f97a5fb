"""Archives of tests, opened like in every process."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from archiver.app import App, open_app
from archiver.config import Settings
from tests.prepared_archives import Prepared, create_empty

OpenArchive = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0, retries=0, retry_delay=0
    )


@pytest.fixture
def open_archive(settings: Settings) -> OpenArchive:
    """Open this test's archive; may be called repeatedly."""

    @asynccontextmanager
    async def start(settings: Settings = settings, **more: object) -> AsyncIterator[App]:
        async with open_app(settings, **more) as runtime:
            yield runtime

    return start


@pytest.fixture
async def archive(
    open_archive: OpenArchive, settings: Settings, prepared: Prepared
) -> AsyncIterator[App]:
    """This test's archive, open."""
    if not settings.data.exists():
        await prepared.copy(create_empty, settings.data)
    async with open_archive() as runtime:
        yield runtime
