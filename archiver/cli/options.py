"""Command line options."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from archiver.cli.command_runner import run_body
from archiver.config import (
    SETTINGS,
    InvalidSettings,
    Setting,
    Settings,
    read_settings,
    unknown_variables,
    variable,
)
from archiver.model.export_kinds import BY_KEY
from archiver.model.listing import Sort

EVERYTHING = tuple(SETTINGS)
CRAWL_STOPPED = "Stopped. `archiver crawl` continues with the queue."
COMMON = ("data", "index", "store", "log_level", "log_json")
_SERVING = (
    "host",
    "port",
    "password",
    "allow_hosts",
    "replay_origin",
    "max_upload_bytes",
    "feed_interval",
    "quiet_hour",
    "trackers",
    "bin_days",
    "notify_url",
)
CRAWLING = tuple(name for name in EVERYTHING if name not in _SERVING)
EXTRACTING = (*COMMON, "extract_processes", "extract_timeout", "extract_memory_bytes")
_NAMES, _FIRST = "settings", "first_settings"
"""Attributes set on a command's function: names of its settings, and of those that --help shows."""


_Body = Callable[..., int]


class SettingOption(click.Option):
    """Flag of a setting; its value stays text, because ``Settings`` validates it."""


class Command(click.Command):
    """Command with a short ``--help``; settings are listed by ``--help-settings``."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own options and those of its settings.

        Options of settings are created here, since most commands are defined but not run.
        """
        return [*super().get_params(ctx), *map(_option, getattr(self.callback, _NAMES, ()))]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write its own options, ``--data`` and the settings marked as ``first``."""
        named = {"data", *getattr(self.callback, _FIRST, ())}
        self._write(
            ctx, formatter, "Options", lambda each: not _is_setting(each) or each.name in named
        )

    def format_settings(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write its settings."""
        self._write(ctx, formatter, "Settings", _is_setting)

    def _write(
        self,
        ctx: click.Context,
        formatter: click.HelpFormatter,
        title: str,
        is_wanted: Callable[[click.Parameter], bool],
    ) -> None:
        options = filter(is_wanted, self.get_params(ctx))
        records = filter(None, (each.get_help_record(ctx) for each in options))
        with formatter.section(title):
            formatter.write_dl(list(records))


def _is_setting(each: click.Parameter) -> bool:
    return isinstance(each, SettingOption)


def help_option(
    name: str, shows: str, write: Callable[[click.Context, click.HelpFormatter], None]
) -> Callable[[_Body], _Body]:
    """Return a decorator for a flag that prints a long help text and exits.

    Args:
        name: the flag, such as ``--help-settings``.
        shows: description of the text.
        write: writes the text.
    """

    def show(ctx: click.Context, _: click.Parameter, is_set: bool) -> None:
        if is_set:
            formatter = ctx.make_formatter()
            write(ctx, formatter)
            click.echo(formatter.getvalue().strip("\n"))
            ctx.exit()

    return click.option(
        name,
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=f"Show {shows}, and exit.",
    )


def _write_settings(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    if isinstance(ctx.command, Command):
        ctx.command.format_settings(ctx, formatter)


def flag(name: str) -> str:
    """Return the flag of a setting."""
    return "--" + name.replace("_", "-")


class Program(click.Group):
    """Commands; flags of settings may also precede the name of the command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move flags of settings to the end, after the name of the command; parse the others."""
        moved, remaining = [], [*args]
        while remaining and (setting := _FLAGS.get(remaining[0].partition("=")[0])):
            moved.append(remaining.pop(0))
            takes_value = bool(setting.kind.metavar) and "=" not in moved[-1]
            if takes_value and remaining:
                moved.append(remaining.pop(0))
        return super().parse_args(ctx, [*remaining[:1], *moved, *remaining[1:]])


_FLAGS = {flag(name): setting for name, setting in SETTINGS.items()}
_FLAGS |= {
    flag(f"no_{name}"): setting for name, setting in SETTINGS.items() if not setting.kind.metavar
}


def with_settings(
    names: tuple[str, ...], *, first: tuple[str, ...] = ()
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add flags of settings to a ``Command``, and pass ``Settings`` as its first argument.

    Settings that are not in ``names`` have no flag; they come from environment variables or
    ``settings.toml``. ``--help`` shows the settings in ``first``.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def called(**values: Any) -> int:
            flags = {name: values.pop(name) for name in names}
            return command(build_settings(flags), **values)

        setattr(called, _NAMES, names)
        setattr(called, _FIRST, first)
        what = "the settings, with their environment variables"
        return help_option("--help-settings", what, _write_settings)(called)

    return decorate


def runs(
    place: str, names: tuple[str, ...] = COMMON, *, first: tuple[str, ...] = (), **options: Any
) -> Callable[[Callable[[], None]], Callable[..., int]]:
    """Return a decorator for a command whose body is the function at ``place``.

    Args:
        place: module and function, imported when the command runs.
        names: settings that have flags.
        first: settings that ``--help`` shows.
        options: other arguments of ``run_body``.
    """

    def decorate(command: Callable[[], None]) -> Callable[..., int]:
        @wraps(command)
        def called(settings: Settings, **arguments: Any) -> int:
            return run_body(place, settings, **options, **arguments)

        return with_settings(names, first=first)(called)

    return decorate


def _together(*options: Callable[[_Body], _Body]) -> Callable[[_Body], _Body]:
    """Return a decorator that adds several options to a command, the last one first."""

    def decorate(command: _Body) -> _Body:
        for option in options:
            command = option(command)
        return command

    return decorate


list_options = _together(
    click.option("--json", "as_json", is_flag=True, help="Print a JSON array."),
    click.option("--all", "everything", is_flag=True, help="Print all entries."),
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        help="Number of entries to print; default: 50 on a terminal, else all.",
    ),
    click.option(
        "--sort",
        type=click.Choice([each.value for each in Sort]),
        help="Sort order; default: best match, or newest without words.",
    ),
    click.option(
        "--status",
        default="",
        help="Only entries with this state (saved, failed, queued, link) or HTTP status.",
    ),
    click.option("--host", default="", metavar="HOST", help="Only entries of this host."),
    click.option("--tag", default="", metavar="TAG", help="Only entries with this tag."),
)


def build_settings(flags: Mapping[str, object]) -> Settings:
    """Build the settings.

    A flag overrides the environment variable, and the variable overrides ``settings.toml``.

    Args:
        flags: values of flags by name of the setting; None or an empty tuple if not given.

    Raises:
        click.UsageError: a value is invalid; names its flag or variable.
    """
    values = {name: value for name, value in flags.items() if value is not None and value != ()}
    for name, similar in unknown_variables(os.environ).items():
        suggestion = f" Did you mean {similar}?" if similar else ""
        click.echo(f"archiver: {name} is not a setting and is ignored.{suggestion}", err=True)
    try:
        return read_settings(values, os.environ)
    except InvalidSettings as error:
        raise click.UsageError(_explain(error.reasons, values)) from error


@cache
def _option(name: str) -> SettingOption:
    setting = SETTINGS[name]
    metavar = setting.kind.metavar
    declaration = f"{flag(name)}/--no-{flag(name)[2:]}" if not metavar else flag(name)
    return SettingOption(
        [declaration, name],
        default=None,
        multiple=metavar == "LIST",
        metavar=metavar or None,
        type=click.BOOL if not metavar else click.STRING,
        help=f"{setting.description}  [{variable(name)}{_shown_default(setting)}]",
    )


def _shown_default(setting: Setting) -> str:
    default = setting.default
    if default in (None, ()):
        return ""
    if isinstance(default, tuple):
        default = ", ".join(default)
    return f"; default: {'false' if default is False else default}"


def _explain(reasons: Mapping[str, object], values: Mapping[str, object]) -> str:
    """Return a sentence for each invalid setting."""

    def spelled(name: str) -> str:
        if name in values:
            return flag(name)
        return variable(name) if name in SETTINGS else name

    return " ".join(f"{spelled(name)}: {reason}." for name, reason in reasons.items())


_File = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path)


def _write_formats(_: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the table of formats."""
    formats = import_module("archiver.services.import_reading").KNOWN_FORMATS
    with formatter.section("Formats"):
        formatter.write_dl([(each.name, each.origin) for each in formats])


import_options = _together(
    help_option("--help-formats", "the supported formats", _write_formats),
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="ROLE=NAME",
        help="What column NAME of a table contains: url, title, note, tags, folder, date, read, "
        "starred, later (to read), keep (unchanged); can be repeated.",
    ),
    click.option("--into", default="", metavar="PATH", help="Put all links into this list."),
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
        help="When to capture: now, when the queue is otherwise empty, or never (save as links).",
    ),
    click.option(
        "--to-read",
        type=click.Choice(["as-in-file", "all", "none"]),
        default="as-in-file",
        show_default=True,
        help="Which links get the tag toread.",
    ),
    click.option(
        "--folders-as",
        type=click.Choice(["lists", "tags", "paths", "ignored"]),
        default="lists",
        show_default=True,
        help="Folders become lists, or lists and tags (each name or path).",
    ),
    click.option(
        "--tag",
        "tags",
        multiple=True,
        metavar="TAG",
        help="Add this tag to every link; can be repeated.",
    ),
    click.option("--json", "as_json", is_flag=True, help="With --dry-run: print JSON."),
    click.option("--dry-run", is_flag=True, help="Print a preview without importing."),
    click.option(
        "--no-crawl",
        is_flag=True,
        help="Queue the links; `archiver serve` or `archiver crawl` captures them.",
    ),
    click.argument("file", type=_File),
)

imports_options = _together(
    click.option(
        "--reason",
        metavar="REASON",
        help="With `again`: retry only failures with this reason, as `failed` prints it.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.argument("number", required=False, type=click.IntRange(min=1)),
    click.argument(
        "action",
        required=False,
        type=click.Choice(["undo", "failed", "again", "capture", "pause", "resume"]),
    ),
)


_RENDER = flag("render")


class AddCommand(Command):
    """Command ``archiver add``, where ``--render`` needs no value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; ``--render`` without a value means ``always``."""
        return super().parse_args(ctx, [*_spelled_out(args)])


def _spelled_out(args: list[str]) -> Iterator[str]:
    ends = args.index("--") if "--" in args else len(args)
    for number, each in enumerate(args):
        is_bare = each == _RENDER and number < ends and not _is_mode(args[number + 1 : ends][:1])
        yield f"{_RENDER}=always" if is_bare else each


def _is_mode(following: list[str]) -> bool:
    try:
        return bool(SETTINGS["render"].kind.read("".join(following)))
    except ValueError:
        return False


_FILTERS = (
    ("--status", "Only entries with this state or HTTP status."),
    ("--host", "Only entries of this host."),
    ("--tag", "Only entries with this tag."),
    ("--query", "Only results of this search."),
)


class _ExportGroup(Program):
    """Group with one command for each export format."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the export formats in order."""
        return [*BY_KEY, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of one format."""
        kind = BY_KEY.get(cmd_name)
        return (
            super().get_command(ctx, cmd_name) if kind is None else _command(kind.key, kind.holds)
        )


def _command(name: str, holds: str) -> click.Command:
    """Create the command that writes one format."""
    is_tree = name == "markdown"
    stopped = "Stopped. Nothing was written."
    body = runs("cli.export.export", form=name, stopped=stopped)(lambda: None)
    if name in ("epub", "html"):
        body = click.option("--title", default="", help="Title of the file.")(body)
    for option, text in _FILTERS:
        body = click.option(option, default="", help=text)(body)
    kind = click.Path(path_type=Path, dir_okay=is_tree, allow_dash=True)
    body = click.argument("file", metavar="DIR" if is_tree else "FILE", type=kind)(body)
    summary = f"{holds[0].upper()}{holds[1:]}."
    to_stdout = '"-" is standard output.'
    to_zip = (
        "DIR is a folder that is created. If its name ends in .zip, one zip file is written "
        'instead; "-" writes a zip file to standard output.'
    )
    text = f"{summary}\n\n{to_zip if is_tree else to_stdout}"
    return click.command(name, cls=Command, help=text, short_help=summary)(body)


@click.group(cls=_ExportGroup)
def export() -> None:
    """Export entries to files for other programs."""


@export.command()
def schema() -> None:
    """Print the JSON Schema of `archiver export json`."""
    click.echo(import_module("archiver.services.exports").schema(), nl=False)
