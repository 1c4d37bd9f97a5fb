"""``archiver import``."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from archiver.app import App, open_app
from archiver.cli.capture import work_queue
from archiver.cli.crawl_loop import run_crawl
from archiver.cli.import_look import LEFT_OUT, look, name_of, nothing_chosen, opened
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.cli.progress import progress_bar
from archiver.config import Settings
from archiver.errors import ArchiverError
from archiver.model.choices import CaptureWhen, Choices
from archiver.model.importing import ImportStatus
from archiver.services.import_choices import typed_choices
from archiver.services.imports import Imports

_OF_LINKS = {each: each for each in ("read", "added", "known", "merged")}
_OF_LINKS |= {"rejected": "unusable", "passed_over": "left out"}
_OF_CAPTURES = {
    "read": "captures",
    "merged": "new",
    "known": "known",
    "rejected": "unusable",
    "passed_over": "passed over",
    "added": "pages",
}
_WHY = {
    "left out": LEFT_OUT,
    "captures": ("records of what an address answered",),
    "known": ("of these captures; they were here already",),
    "passed over": ("other records, such as requests: they go with captures, or are none",),
}
"""What is said beside a number that does not say it by itself."""
_STOPPED = (
    "Stopped. What was read stays in the queue: `archiver crawl` captures it, "
    "and importing the file again reads the rest."
)


def run(
    settings: Settings,
    *,
    file: Path,
    no_crawl: bool,
    dry_run: bool,
    as_json: bool,
    **chosen: Any,
) -> int:
    """Read a list of bookmarks into the queue; capture it unless told not to."""
    choices = _choices(**chosen)
    if dry_run:
        return run_until_signal(look(settings, file, choices, as_json=as_json))
    return run_crawl(_import(settings, file, choices, crawl=not no_crawl), stopped=_STOPPED)


def _choices(
    *, tags: Sequence[str], only_folders: Sequence[str], columns: Sequence[str], **words: str
) -> Choices:
    return typed_choices(tags=tags, words=words, only_folders=only_folders, columns=columns)


async def _import(settings: Settings, file: Path, choices: Choices, *, crawl: bool) -> int:
    with opened(file) as source:
        async with open_app(settings, reads_only=not crawl) as app:
            status = await _read(app.imports, source, name_of(file), choices)
            _summarise(status)
            if choices.only_folders and 0 < status.passed_over == status.read:
                raise nothing_chosen(choices)
            if choices.capture is CaptureWhen.NEVER or status.is_archive:
                await app.crawling.write_down_changes()
            if crawl and (status.counts.open or not status.is_archive):
                await _work_queue(app)
    if status.error:
        raise ArchiverError(status.error)
    return 0


async def _work_queue(app: App) -> None:
    """Capture what is queued."""
    await work_queue(app.settings, app.crawling, app.articles)


async def _read(imports: Imports, source: BinaryIO, name: str, choices: Choices) -> ImportStatus:
    total = os.fstat(source.fileno()).st_size or None
    with progress_bar("Reading") as bar:

        def on_progress(status: ImportStatus) -> None:
            what = "captures" if status.is_archive else "links"
            done = source.tell() if source.seekable() else 0
            bar.show(done=done, total=total, now=f"{status.read:,} {what}")

        return await imports.read_file(source, name=name, choices=choices, on_progress=on_progress)


def _summarise(status: ImportStatus) -> None:
    write_row("file", f"{status.name} ({status.format})")
    words = _OF_CAPTURES if status.is_archive else _OF_LINKS
    for what, word in words.items():
        number = getattr(status, what)
        is_told = number and (status.is_archive or word == "left out")
        write_row(word, str(number), *(_WHY.get(word, ()) if is_told else ()))
    if status.lists_left_out:
        write_row("lists left out", str(status.lists_left_out))
    if status.has_nothing_new:
        write_row("It changed nothing: all of it was here already.")
    for sample in status.rejected_samples:
        write_row("-", "unusable", f"{sample.given}: {sample.reason}")
