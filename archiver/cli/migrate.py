"""``archiver migrate``."""

from collections.abc import Sequence

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.cli.progress import progress_bar
from archiver.cli.verify import verified
from archiver.config import Settings, read_settings
from archiver.errors import ConfigurationError
from archiver.services.migrating import Places, migrate

FOLDER = "folder"
_STOPPED = "Stopped. Run the same command again to go on."
_UNKNOWN = "“{}” is no place: say folder, postgresql://user@host/database or s3://bucket/prefix."


def run(settings: Settings, *, to: Sequence[str], from_: Sequence[str], remove: bool) -> int:
    """Move the archive, then check all of it; 1 if anything is wrong."""
    return run_until_signal(_migrate(settings, to, from_, remove=remove), stopped=_STOPPED)


async def _migrate(
    settings: Settings, to: Sequence[str], from_: Sequence[str], *, remove: bool
) -> int:
    places = _places(to)
    with progress_bar("Moving") as bar:
        moved = await migrate(
            settings,
            places,
            given=_places(from_) if from_ else None,
            remove=remove,
            on_segment=lambda name: bar.show(done=0, now=name),
            on_index=lambda now: bar.show(done=0, now=f"{now.records:,} records"),
        )
    write_row("segments moved", str(moved.segments))
    if moved.index:
        write_row("snapshots", str(moved.index.snapshots))
        write_row("queued", str(moved.index.queued))
        for finding in moved.index.problems:
            write_row(finding.where, finding.problem)
    return await verified(settings, index=places.index, store=places.store)


def _places(given: Sequence[str]) -> Places:
    """Places as they were said.

    Raises:
        ConfigurationError: one is none, or two are of one kind.
    """
    found: dict[str, object] = {}
    for each in given:
        kind = "index" if each.startswith("postgresql://") else "store"
        if each == FOLDER and len(given) == 1:
            return Places()
        if each == FOLDER or kind in found or (kind == "store" and not each.startswith("s3://")):
            raise ConfigurationError(_UNKNOWN.format(each))
        found[kind] = each
    settings = read_settings(found, {})
    return Places(settings.index, settings.store)
