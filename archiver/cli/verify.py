"""``archiver verify``."""

from dataclasses import replace

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.cli.progress import Bar, progress_bar
from archiver.config import Settings
from archiver.services.fixity import Progress
from archiver.services.last_check import keep_check


def run(settings: Settings) -> int:
    """Check everything that is stored; 1 if anything is wrong."""
    return run_until_signal(_verify(settings))


async def verified(settings: Settings, *, index: str | None, store: str | None) -> int:
    """The same of an archive that lies there."""
    return await _verify(replace(settings, index=index, store=store))


async def _verify(settings: Settings) -> int:
    wrong = 0
    seen = _Seen()
    async with open_app(settings, reads_only=True) as app:
        fixity = app.fixity
        with progress_bar("Reading back") as bar:
            async for finding in fixity.verify(lambda now: seen.note(now, bar)):
                write_row(finding.where, finding.problem)
                wrong += finding.is_wrong
    await keep_check(settings.data, records=seen.records, problems=wrong)
    write_row("records", str(seen.records))
    write_row("problems", str(wrong))
    return int(wrong > 0)


class _Seen:
    """How many records were read back."""

    records = 0

    def note(self, now: Progress, bar: Bar) -> None:
        """Take how far it has come."""
        self.records = now.records
        bar.show(done=now.bytes_read, total=now.bytes_total, now=f"{now.records:,} records")
