"""What ``archiver import`` and ``archiver imports`` take."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click

from archiver.cli.options import Command, help_option

_File = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path)
_Body = Callable[..., int]


def _write_formats(_: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the table of formats."""
    known = import_module("archiver.services.import_kinds").KNOWN_FORMATS
    with formatter.section("Formats"):
        formatter.write_dl([(each.name, each.origin) for each in known])


class ImportCommand(Command):
    """``archiver import``."""

    further = help_option("--help-formats", "the formats that are known", _write_formats)


_IMPORT = (
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="ROLE=NAME",
        help="What a column of a table says: url, title, note, tags, folder, date, read, "
        "starred, later (to be read), or keep (as it stands); can be repeated.",
    ),
    click.option("--into", default="", metavar="PATH", help="Put all into this list."),
    click.option(
        "--only-folder",
        "only_folders",
        multiple=True,
        metavar="PATH",
        help="Only links in this folder or below; can be repeated.",
    ),
    click.option(
        "--capture",
        type=click.Choice(["now", "idle", "never"]),
        default="now",
        show_default=True,
        help="When: with the rest, when nothing else waits, or never: kept as links.",
    ),
    click.option(
        "--to-read",
        type=click.Choice(["as-said", "all", "none"]),
        default="as-said",
        show_default=True,
        help="Which links are tagged toread.",
    ),
    click.option(
        "--folders-as",
        type=click.Choice(["tags", "paths", "nothing", "left-out"]),
        default="tags",
        show_default=True,
        help="Whether the names of folders are tags, or their whole paths, or neither; or "
        "whether folders are left out.",
    ),
    click.option("--tag", "tags", multiple=True, help="A tag for every link of the file."),
    click.option("--json", "as_json", is_flag=True, help="With --dry-run: print JSON."),
    click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing."),
    click.option("--no-crawl", is_flag=True, help="Only put the links into the queue."),
    click.argument("file", type=_File),
)


def import_options(command: _Body) -> _Body:
    """Add what an import is told."""
    for option in _IMPORT:
        command = option(command)
    return command


def imports_options(command: _Body) -> _Body:
    """Add what can be done about imports."""
    for option in (
        click.option(
            "--reason", metavar="R", help="With again: only this one, as `failed` prints it."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.argument("number", required=False, type=click.IntRange(min=1)),
        click.argument(
            "action", required=False, type=click.Choice(["undo", "failed", "again", "capture"])
        ),
    ):
        command = option(command)
    return command
