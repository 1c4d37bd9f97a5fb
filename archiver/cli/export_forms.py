"""``archiver export``: a command for each form there is, known only once one is asked for."""

from importlib import import_module
from pathlib import Path

import click

from archiver.cli.bodies import run_body
from archiver.cli.options import COMMON, Command, with_settings
from archiver.config import Settings

_NARROWING = (
    ("--status", "Only entries that are saved, or that answered with that status."),
    ("--host", "Only entries of this host."),
    ("--tag", "Only entries with this tag."),
    ("--query", "Only entries with these words, as for `archiver search`."),
)


class _ExportGroup(click.Group):
    """Commands that come from the table of forms."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The forms, in the order of their table."""
        kinds = import_module("archiver.services.export_kinds").EXPORTS
        return [*(each.key for each in kinds), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of one form."""
        kind = import_module("archiver.services.export_kinds").BY_KEY.get(cmd_name)
        return (
            super().get_command(ctx, cmd_name) if kind is None else _command(kind.key, kind.holds)
        )


@click.group(cls=_ExportGroup)
def export() -> None:
    """Take entries away, in forms that other programs read."""


@export.command()
def schema() -> None:
    """Print the JSON Schema of `archiver export json`."""
    click.echo(import_module("archiver.services.export_kinds").schema(), nl=False)


def _command(name: str, holds: str) -> click.Command:
    """The command that writes one form."""

    def called(settings: Settings, **given: object) -> int:
        return run_body("export", settings, form=name, **given)

    is_tree = name == "markdown"
    body = with_settings(COMMON)(called)
    for option, text in _NARROWING:
        body = click.option(option, default="", help=text)(body)
    kind = click.Path(path_type=Path, dir_okay=is_tree, allow_dash=True)
    body = click.argument("file", metavar="DIR" if is_tree else "FILE", type=kind)(body)
    summary = f"{holds[0].upper()}{holds[1:]}."
    to_stdout = '"-" is standard output.'
    to_zip = 'A name that ends in .zip makes a zip of it; "-" is one on standard output.'
    text = f"{summary}\n\n{to_zip if is_tree else to_stdout}"
    return click.command(name, cls=Command, help=text, short_help=summary)(body)
