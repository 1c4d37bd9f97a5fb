"""Working the queue with a bar: what ``crawl`` and ``import`` share."""

from dataclasses import dataclass

from archiver.cli.output import write_row
from archiver.cli.progress import progress_bar
from archiver.model.job import Job, State
from archiver.runtime import Runtime


@dataclass(slots=True)
class Tally:
    """What became of the jobs of this run."""

    saved: int = 0
    failed: int = 0
    now: str = ""

    def note(self, job: Job) -> None:
        """Count a change."""
        if job.state is State.SAVED:
            self.saved += 1
        elif job.state is State.FAILED:
            self.failed += 1
        elif job.state is State.FETCHING:
            self.now = job.url


async def work_queue(runtime: Runtime) -> None:
    """Capture until nothing is queued, then print how many were saved and how many failed."""
    before = (await runtime.captures.counts()).open
    tally = Tally()
    with progress_bar("Capturing") as bar:

        def on_change(job: Job) -> None:
            tally.note(job)
            done = tally.saved + tally.failed
            bar.show(done=done, total=max(before, done), now=tally.now)

        after = await runtime.captures.work(on_change=on_change)
    write_row("saved", str(tally.saved))
    write_row("failed", str(tally.failed))
    if after.open:
        write_row("left", str(after.open))
