"""The program as separate processes on one data directory."""

import asyncio
import json
import os
import re
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import warcio.cli
from warcio.archiveiterator import ArchiveIterator

from tests.command_line import run_in_thread
from tests.segments import write_segment_files

TESTS = Path(__file__).parent


def batch_size_variables(size: int) -> dict[str, str]:
    """Return variables with which a process reads files of links in batches of that size."""
    paths = [str(TESTS / "in_small_batches"), str(TESTS.parent)]
    return {"PYTHONPATH": os.pathsep.join(paths), "TEST_BATCH": str(size)}


@asynccontextmanager
async def running(
    *arguments: str, program: Sequence[str] = ("-m", "archiver"), **variables: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a command while the block runs, then kill it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *program, *arguments),
        env=os.environ | variables,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


class Archive:
    """A data directory, and processes of the program on it."""

    def __init__(self, directory: Path) -> None:
        self.data = directory / "data"
        self._log = directory / "log"
        self._variables = {
            "ARCHIVER_DATA": str(self.data),
            "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
            "ARCHIVER_HOST_DELAY": "0",
            "ARCHIVER_HOST_CONCURRENCY": "8",
            "ARCHIVER_RENDER": "never",
            "ARCHIVER_EXTRACT_PROCESSES": "1",
        }

    async def start(self, *arguments: str, **variables: str) -> asyncio.subprocess.Process:
        """A process that can be sent signals."""
        with self._log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "archiver", *arguments),
                env={**os.environ, **self._variables, **variables},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=PIPE,
                stderr=log,
            )

    async def serve(self, **variables: str) -> tuple[asyncio.subprocess.Process, str]:
        """Start a service; return the process and its URL."""
        process = await self.start("serve", "--port", "0", **variables)
        match = None
        while match is None:
            line = (await process.stdout.readline()).decode()
            assert line, self._log.read_text()
            match = re.search(r"http://\S+", line)
        return process, match[0].rstrip("/")

    async def run(self, *arguments: str, **variables: str) -> str:
        """Run a command in this process; return its output."""
        done = await run_in_thread(*arguments, variables=self._variables | variables)
        assert done.returncode == 0, done
        return done.stdout

    async def queue(self, urls: list[str]) -> None:
        links = self.data.with_name("links.txt")
        links.write_text("\n".join(urls))
        await self.run("import", str(links), "--no-crawl")

    async def listing_and_texts(self) -> tuple[list[dict[str, object]], dict[str, str]]:
        """Return the listing with all fields, and every entry's text by hash_url.

        The order of entries of one second is not defined.
        """
        listing = json.loads(await self.run("list", "--json", "--all", "--sort", "captured"))
        assert [e["latest"] for e in listing] == sorted(
            (e["latest"] for e in listing), reverse=True
        )
        listing.sort(key=lambda entry: entry["hash_url"])
        tree = self.data.with_name("tree")
        await self.run("export", "markdown", str(tree))
        return listing, {each.parent.name: each.read_text() for each in tree.glob("*/index.md")}

    def segments(self) -> list[Path]:
        """Return the files that contain the segments."""
        return write_segment_files(self.data, self.data.with_name("segments"))

    def record_counts(self) -> Counter[str]:
        """Return the number of response and revisit records of each URL, read by warcio."""
        counts: Counter[str] = Counter()
        for path in self.segments():
            with path.open("rb") as file:
                for record in ArchiveIterator(file):
                    if record.rec_type in {"response", "revisit"}:
                        counts[record.rec_headers.get_header("WARC-Target-URI")] += 1
        return counts

    async def warcio_check(self) -> int:
        return await asyncio.to_thread(_warcio_check, [str(each) for each in self.segments()])


def _warcio_check(paths: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        warcio.cli.main(["check", *paths])
    return int(ended.value.code or 0)
