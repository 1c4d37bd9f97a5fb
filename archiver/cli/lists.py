"""``archiver lists``."""

from collections.abc import Sequence

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_json, write_row
from archiver.config import Settings
from archiver.errors import InputError
from archiver.formats.documents import to_document
from archiver.runtime import Runtime, open_runtime


def run(
    settings: Settings,
    *,
    make: str | None,
    query: str,
    rename: Sequence[str],
    delete: str | None,
    as_json: bool,
) -> int:
    """Change lists, if that is asked for, and print what there is then; 1 if there are none."""
    if query and not make:
        raise InputError("Say with --make under which name the search is saved.")
    return run_until_signal(_lists(settings, make, query, rename, delete, as_json=as_json))


async def _lists(
    settings: Settings,
    make: str | None,
    query: str,
    rename: Sequence[str],
    delete: str | None,
    *,
    as_json: bool,
) -> int:
    async with open_runtime(settings) as runtime:
        if make is not None:
            await runtime.lists.make(make, query)
        if rename:
            await runtime.lists.rename(*rename)
        if delete is not None:
            await runtime.lists.delete(delete)
        if make is not None or rename or delete is not None:
            await runtime.crawling.write_down_changes()
        return await _print(runtime, as_json=as_json)


async def _print(runtime: Runtime, *, as_json: bool) -> int:
    found = await runtime.lists.all()
    if as_json:
        write_json(to_document(found))
        return int(not found)
    for each in found:
        write_row(each.path, "-" if each.count is None else str(each.count), each.query or "-")
    return int(not found)
