"""Priorities of crawling processes and their workers."""

import psutil
import pytest

from archiver.app import READER_NICENESS, open_app
from archiver.config import Settings
from archiver.pages.worker_messages import Document

pytestmark = pytest.mark.real_children

PAGE = Document(b"<p>Hello</p>", "text/html", "", "http://example.com/")


async def priorities(context):
    """Return the priority of the worker that parses pages, and of this process."""
    await context.derive.discover(PAGE)
    module = "archiver.pages.worker"
    [child] = [each for each in psutil.Process().children() if module in each.cmdline()]
    return child.nice() - psutil.Process().nice()


@pytest.mark.parametrize(("beside_users", "wanted"), [(False, 0), (True, READER_NICENESS)])
async def test_workers_of_a_command_have_its_priority(tmp_path, beside_users, wanted):
    async with open_app(Settings(data=tmp_path), beside_users=beside_users) as crawler:
        assert await priorities(crawler.context) == wanted


async def test_workers_of_a_service_have_lower_priority(tmp_path):
    async with open_app(Settings(data=tmp_path), serve=True) as runtime:
        assert await priorities(runtime.crawling._context) == READER_NICENESS
