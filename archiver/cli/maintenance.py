"""Maintenance commands: compact, config, sites, bin, reindex, verify, migrate and machines."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import click

from archiver.app import open_app
from archiver.cli.event_loop import run_until_signal
from archiver.cli.terminal import progress_bar, write_row, write_table
from archiver.config import (
    SETTINGS,
    InvalidSettings,
    Settings,
    read_settings,
    show_duration,
)
from archiver.errors import ConfigurationError, InputError
from archiver.http.site_rules import names_port, site_name
from archiver.services.crawling import running_workers
from archiver.services.fixity import Progress
from archiver.services.health import store_check
from archiver.services.migration import migrate
from archiver.services.preferences import Preferences
from archiver.services.reindex import ReindexReport, reindex


async def compact(settings: Settings, *, dry_run: bool, empty_bin: bool) -> None:
    """Erase deleted data, or with ``dry_run`` only print how much that would free."""
    async with open_app(settings) as runtime:
        if not dry_run:
            await runtime.crawling.write_pending_records()
        done = await runtime.compacting.compact(dry_run=dry_run, empty_bin=empty_bin)
    write_row("segments", str(done.segments))
    write_row("records", str(done.records))
    write_row("bytes freed", str(done.freed))
    for name, why in done.left.items():
        write_row("left", name, why)


def config(settings: Settings, *, name: str | None, value: str | None, unset: bool) -> None:
    """Print all settings or one setting, or change a setting."""
    preferences = Preferences(settings)
    preferences_by_name = asyncio.run(preferences.all())
    if name is None:
        rows = [(each.name, each.value, each.source) for each in preferences_by_name.values()]
        write_table(("setting", "value", "source"), rows)
        return
    name = name.lstrip("-").replace("-", "_").lower().removeprefix("archiver_")
    reads = value is None and not unset
    if name not in (preferences_by_name if reads else SETTINGS):
        raise InputError("There is no setting “{name}”. See `archiver config`.", name=name)
    if reads:
        write_row(preferences_by_name[name].value, preferences_by_name[name].source)
    else:
        asyncio.run(preferences.change({name: None if unset else value}))
        click.echo(
            "Stored. A running `archiver serve` uses it after a restart, or after Save on its "
            "Settings page.",
            err=True,
        )


async def set_site(settings: Settings, *, host: str, never_save: bool | None, **rule: str) -> None:
    """Change the rule of a host; values that are None stay."""
    values: dict[str, str | bool | None] = {**rule, "never_save": never_save}
    changes = {name: value for name, value in values.items() if value is not None}
    await Preferences(settings).set_site_rule(site_name(host), changes)
    if names_port(host):
        click.echo(
            f"Rules apply to whole hosts: this one covers all ports of {site_name(host)}.", err=True
        )


async def remove_site(settings: Settings, *, host: str) -> int:
    """Remove the rule of a host; return 1 if it has none."""
    return int(not await Preferences(settings).remove_site_rule(site_name(host)))


async def sites(settings: Settings) -> None:
    """List the rules of sites."""
    rows = [
        (
            name,
            rule.render or "",
            "" if rule.delay is None else show_duration(rule.delay),
            rule.user_agent or "",
            "never" if rule.never_save else "",
        )
        for name, rule in (await Preferences(settings).site_rules()).items()
    ]
    write_table(("host", "browser", "delay", "user agent", "save"), rows, "no rules.")


def bin_(settings: Settings, *, action: str, refs: Sequence[str], yes: bool) -> int:
    """List, restore or erase deleted entries; return 1 if none could be restored."""
    if action == "empty" and not yes:
        click.confirm("Permanently erase everything in the bin? This cannot be undone.", abort=True)
    if action == "empty":
        return run_until_signal(compact(settings, dry_run=False, empty_bin=True))
    return run_until_signal(_bin(settings, restores=action == "restore", refs=refs))


async def _bin(settings: Settings, *, restores: bool, refs: Sequence[str]) -> int:
    async with open_app(settings, reads_only=not restores) as runtime:
        if restores:
            restored = await runtime.deleting.restore_from_bin(refs)
            write_row("entries", str(restored.entries))
            write_row("snapshots", str(restored.snapshots))
            return int(not restored.snapshots and not restored.entries)
        items = await runtime.deleting.bin()
    rows = [
        (f"{each.deleted_at:%Y-%m-%d %H:%M}", each.title, each.url, each.timestamp)
        for each in items
    ]
    write_table(("deleted (UTC)", "title", "URL", "snapshot"), rows, "the bin is empty.")
    return 0


async def run_reindex(settings: Settings, *, accept_missing: bool) -> int:
    """Rebuild the index; return 1 if there were unusable records."""
    report = await _with_progress(settings, accept_missing=accept_missing)
    for what in ("segments", "records", "captures", "snapshots", "queued"):
        write_row(what, str(getattr(report, what)))
    if report.lost:
        write_row("lost", str(report.lost))
    for each in report.kept:
        write_row("earlier index", each)
    for finding in report.problems:
        write_row(finding.where, finding.problem)
    return int(any(finding.is_wrong for finding in report.problems))


async def rebuild(settings: Settings) -> None:
    """Rebuild the index before another command; print only problems, on standard error."""
    report = await _with_progress(settings, accept_missing=False)
    for finding in report.problems:
        click.echo(f"{finding.where}: {finding.problem}", err=True)


async def _with_progress(settings: Settings, *, accept_missing: bool) -> ReindexReport:
    with progress_bar("Reading") as bar:

        def on_progress(records: int, snapshots: int) -> None:
            bar.show(done=0, now=f"{records:,} records, {snapshots:,} snapshots")

        return await reindex(settings, on_progress, accept_missing=accept_missing)


async def verify(settings: Settings) -> int:
    """Verify all stored records; return 1 if there are problems."""
    records = wrong = 0
    async with open_app(settings, reads_only=True) as app:
        with progress_bar("Reading back") as bar:

            def on_progress(now: Progress) -> None:
                nonlocal records
                records = now.records
                bar.show(done=now.bytes_read, total=now.bytes_total, now=f"{records:,} records")

            async for finding in app.fixity.verify(on_progress):
                write_row(finding.where, finding.problem)
                wrong += finding.is_wrong
    await store_check(settings.data, records=records, problems=wrong)
    write_row("records", str(records))
    write_row("problems", str(wrong))
    return int(wrong > 0)


FOLDER = "folder"
_UNKNOWN = (
    "“{}” is not a location. Use postgresql://user@host/database, s3://bucket/prefix or both, or "
    "the word “folder” alone, which means the data directory. To use another data directory, stop "
    "archiver, copy the directory, and start with --data."
)


async def run_migrate(settings: Settings, *, to: Sequence[str], remove: bool) -> int:
    """Move the archive, then verify it; return 1 if there are problems."""
    settings = _moved(settings, to)
    with progress_bar("Moving") as bar:
        moved, index = await migrate(
            settings,
            remove=remove,
            on_segment=lambda name: bar.show(done=0, now=name),
            on_index=lambda records, _: bar.show(done=0, now=f"{records:,} records"),
        )
    write_row("segments moved", str(moved))
    if index:
        write_row("snapshots", str(index.snapshots))
        write_row("queued", str(index.queued))
        for finding in index.problems:
            write_row(finding.where, finding.problem)
    return await verify(settings)


def _moved(settings: Settings, locations: Sequence[str]) -> Settings:
    """Return settings with other locations.

    Raises:
        ConfigurationError: a location is invalid, or two locations are of the same kind.
    """
    kinds = {each.partition(":")[0]: each for each in locations if each != FOLDER}
    if len(locations) > max(len(kinds), 1) or not kinds.keys() <= {"postgresql", "s3"}:
        raise ConfigurationError(_UNKNOWN.format(" and ".join(locations)))
    try:
        named = read_settings({"index": kinds.get("postgresql"), "store": kinds.get("s3")}, {})
    except InvalidSettings as error:
        raise ConfigurationError(
            f"“{' and '.join(locations)}” is not a location. {error}"
        ) from error
    return replace(settings, index=named.index, store=named.store)


_LOCAL_INDEX = "archiver: the index is a local file. To use several machines, see docs/scaling.md."


async def machines(settings: Settings) -> None:
    """List the running workers of an archive on a database server."""
    if not settings.index:
        click.echo(_LOCAL_INDEX, err=True)
        return
    async with open_app(settings, reads_only=True) as app:
        workers = await running_workers(app.db)
    rows = [
        (each.machine, each.name, each.address or "-", f"{each.since:%Y-%m-%dT%H:%M:%SZ}")
        for each in workers
    ]
    write_table(("machine", "worker", "address", "since"), rows, "no workers are running.")
