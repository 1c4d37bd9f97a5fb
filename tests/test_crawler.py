"""The process that works the queue, and what it leaves to others."""

import psutil
import pytest

from archiver.config import Settings
from archiver.crawler import NICE, open_crawler
from archiver.derive.pool import Document
from archiver.runtime import open_runtime

PAGE = Document(b"<p>Hello</p>", "text/html", "", "http://example.com/")


async def priority_of_who_reads(context):
    """What the kernel says of the child that looks a page through, beside this process."""
    await context.derive.discover(PAGE)
    module = "archiver.derive.worker"
    [child] = [each for each in psutil.Process().children() if module in each.cmdline()]
    return child.nice() - psutil.Process().nice()


@pytest.mark.parametrize(("stands_back", "wanted"), [(False, 0), (True, NICE)])
async def test_reading_has_the_priority_of_its_command_unless_it_stands_back(
    tmp_path, stands_back, wanted
):
    async with open_crawler(Settings(data=tmp_path), stands_back=stands_back) as crawler:
        assert await priority_of_who_reads(crawler.context) == wanted


async def test_reading_stands_back_behind_people_who_are_served(tmp_path):
    async with open_runtime(Settings(data=tmp_path), crawl=True) as runtime:
        assert await priority_of_who_reads(runtime.crawling._context) == NICE
