"""``archiver machines``."""

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.config import Settings
from archiver.reading import open_to_read
from archiver.services.machines import Machines


def run(settings: Settings) -> int:
    """Print the processes that write, with their machines; 1 if there are none."""
    return run_until_signal(_machines(settings))


async def _machines(settings: Settings) -> int:
    async with open_to_read(settings, Machines) as machines:
        found = await machines.processes()
        for each in found:
            place = "here" if each.machine == machines.own else "elsewhere"
            state = "dead" if each.is_overdue else "silent" if each.is_silent else "alive"
            write_row(each.machine, place, each.name, state)
        return 0 if found else 1
