"""The `lists` command."""

from collections.abc import Sequence

from archiver.app import App, open_app
from archiver.cli.terminal import write_json, write_table
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.entry_list import is_within, tidy_path


async def lists(
    settings: Settings,
    *,
    make: str | None,
    query: str,
    rename: Sequence[str] | None,
    delete: str | None,
    as_json: bool,
) -> None:
    """Create, rename or delete lists, or print all.

    After a change, only the created and renamed lists are printed, each with its nested lists.
    """
    if query and not make:
        raise InputError("--query requires --make with the name of the saved search.")
    is_changed = make is not None or bool(rename) or delete is not None
    async with open_app(settings, reads_only=not is_changed) as runtime:
        if make is not None:
            await runtime.lists.make(make, query)
        if rename:
            await runtime.lists.rename(*rename)
        if delete is not None:
            await runtime.lists.delete(delete)
        if is_changed:
            await runtime.crawling.write_pending_records()
        changed_paths = [
            tidy_path(each) for each in (make, *(rename or ())[1:]) if each is not None
        ]
        await _print(runtime, changed_paths if is_changed else None, as_json=as_json)


async def _print(runtime: App, changed: Sequence[str] | None, *, as_json: bool) -> None:
    """Print the changed lists and their nested lists; all lists if ``changed`` is None."""
    lists = await runtime.lists.all()
    lists_shown = [
        each
        for each in lists
        if changed is None or any(is_within(each.path, path) for path in changed)
    ]
    if as_json:
        write_json(lists_shown)
    else:
        rows = [
            (
                each.path,
                "-" if each.shown_count is None else f"{each.shown_count}{'+' * each.is_more}",
                each.query or "-",
            )
            for each in lists_shown
        ]
        write_table(("list", "entries", "saved search"), rows, "no lists.")
