"""Archives of tests, opened like in every process."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from archiver.app import App, open_app
from archiver.config import Settings

Open = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0, retries=0, retry_delay=0
    )


@pytest.fixture
def opened(settings: Settings) -> Open:
    """Open this test's archive; may be called repeatedly."""

    @asynccontextmanager
    async def start(settings: Settings = settings, **more: object) -> AsyncIterator[App]:
        async with open_app(settings, **more) as runtime:
            yield runtime

    return start


@pytest.fixture
async def archive(opened: Open) -> AsyncIterator[App]:
    """This test's archive, open."""
    async with opened() as runtime:
        yield runtime
