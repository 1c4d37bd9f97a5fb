"""``archiver machines``."""

import click

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.services.machines import Machines

_ALONE = (
    "archiver: the index is a file of this machine alone; machines share one on a server: see "
    "docs/scaling.md."
)


def run(settings: Settings, *, unsealed: bool, forget: str | None) -> int:
    """List workers or segments to upload, or give up a machine; return 1 if there are none."""
    if forget is not None:
        return run_until_signal(_forget(settings, forget))
    return run_until_signal(_list(settings, unsealed=unsealed))


async def _list(settings: Settings, *, unsealed: bool) -> int:
    async with open_app(settings, reads_only=True) as app:
        machines = app.machines
        rows = await (_unsealed(machines) if unsealed else _processes(machines))
        for machine, *rest in rows:
            write_row(machine, "here" if machine == machines.own else "elsewhere", *rest)
        if not machines.own:
            click.echo(_ALONE, err=True)
        return 0 if rows else 1


async def _processes(machines: Machines) -> list[tuple[str, ...]]:
    return [
        (each.machine, each.name, each.address or "-", f"{each.since:%Y-%m-%dT%H:%M:%SZ}")
        for each in await machines.workers()
    ]


async def _unsealed(machines: Machines) -> list[tuple[str, ...]]:
    return [(each.machine, each.name, str(each.bytes)) for each in await machines.unsealed()]


async def _forget(settings: Settings, name: str) -> int:
    async with open_app(settings, reads_only=True) as app:
        machines = app.machines
        forgotten = await machines.forget(name)
        for each in forgotten.segments:
            write_row("lost", each)
        write_row("snapshots", str(forgotten.snapshots))
        write_row("entries without another", str(forgotten.entries))
        return 0
