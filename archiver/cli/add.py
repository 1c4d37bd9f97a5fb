"""``archiver add``."""

import sys
from collections import defaultdict
from collections.abc import Sequence

from archiver.app import App, open_app
from archiver.cli.crawl_loop import run_crawl
from archiver.cli.output import clean, write_row
from archiver.cli.progress import Bar, progress_bar
from archiver.config import Settings
from archiver.model.job import Job, State
from archiver.model.seed import Received
from archiver.wire.moments import write_iso

MOST_TOLD = 200
"""URLs of one command of which it is told where else they are kept; more are a list."""


def run(settings: Settings, *, urls: Sequence[str], tags: Sequence[str]) -> int:
    """Capture URLs now; 1 if any of them failed."""
    return run_crawl(_add(settings, _given(urls), tags))


def _given(urls: Sequence[str]) -> list[str]:
    """The URLs, with those of standard input in the place of a "-"."""
    given: list[str] = []
    for each in urls:
        given += sys.stdin.read().split("\n") if each == "-" else [each]
    return given


async def _add(settings: Settings, urls: Sequence[str], tags: Sequence[str]) -> int:
    async with open_app(settings) as crawler:
        render = settings.render == "always"
        result = await crawler.entries.save(urls, tags=tags, source="cli", render=render)
        for rejected in result.rejected:
            write_row("-", "unusable", f"{rejected.given}: {rejected.reason}")
        with progress_bar("Capturing") as bar:
            report = _Report(result.accepted, bar)
            await _capture(crawler, report)
        if len(result.accepted) <= MOST_TOLD:
            await _warn_of_twins(crawler, result.accepted)
    return int(report.failed or bool(result.rejected))


async def _capture(crawler: App, report: "_Report") -> None:
    """Make each job's first attempt, and wait for those that another process is making."""
    if report.waiting:
        await crawler.crawling.work(only=sorted(report.waiting), on_change=report.note)
    if report.waiting:
        async for change in crawler.following.jobs(report.waiting):
            report.note(change)
            if not report.waiting:
                return


async def _warn_of_twins(crawler: App, accepted: Sequence[Received]) -> None:
    """Name the other addresses of each page that are kept; what is printed stays a line a URL."""
    for each in {received.hash_url: received for received in accepted}.values():
        detail = await crawler.entries.get(each.hash_url)
        for twin in detail.twins if detail.snapshots else ():
            sys.stderr.write(clean(f"archiver: {each.url} is kept as {twin.url}, too.\n"))


class _Report:
    """Prints a line for each URL as soon as its capture has ended."""

    def __init__(self, accepted: Sequence[Received], bar: Bar) -> None:
        self.failed = False
        self.waiting: dict[int, list[Received]] = defaultdict(list)
        self._bar = bar
        for each in accepted:
            if each.job_id is None:
                write_row(each.hash_url, "known", each.url)
            else:
                self.waiting[each.job_id].append(each)
        self._total = len(self.waiting)
        self._show("")

    def note(self, job: Job) -> None:
        """Take a change of a job; one that goes back into the queue has failed for now."""
        ended = job.state in (State.SAVED, State.FAILED) or self._is_put_off(job)
        for each in self.waiting.pop(job.id, ()) if ended else ():
            self._write(each, job)
        self._show("" if ended else job.url)

    def _is_put_off(self, job: Job) -> bool:
        return job.state is State.QUEUED and job.failure is not None

    def _write(self, received: Received, job: Job) -> None:
        if job.state is State.SAVED:
            write_row(received.hash_url, "saved", job.title or received.url)
            return
        self.failed = True
        why = job.failure.message if job.failure else "It could not be captured."
        if self._is_put_off(job):
            due = f" after {write_iso(job.not_before)}" if job.not_before else ""
            why += f" `archiver serve` or `archiver crawl` tries it again{due}."
        what = "waits" if self._is_put_off(job) else "failed"
        write_row(received.hash_url, what, f"{received.url}: {why}")

    def _show(self, now: str) -> None:
        self._bar.show(done=self._total - len(self.waiting), total=self._total, now=now)
