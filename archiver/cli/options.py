"""Flags made from the settings: one name, one default, one description, one place."""

import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from archiver.config import SETTINGS, InvalidSettings, Setting, Settings, read_settings, variable
from archiver.model.listing import Sort

EVERYTHING = tuple(SETTINGS)
COMMON = ("data", "log_level", "log_json")
_SERVING = (
    "host",
    "port",
    "password",
    "allow_hosts",
    "replay_origin",
    "max_upload_bytes",
    "quiet_hour",
    "trackers",
)
CRAWLING = tuple(name for name in EVERYTHING if name not in _SERVING)
EXTRACTING = (*COMMON, "extract_processes", "extract_timeout", "extract_memory_bytes")


class SettingOption(click.Option):
    """The flag of a setting; its value stays text, because ``Settings`` is what judges it."""


class Command(click.Command):
    """A command whose help keeps its own options apart from the settings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write two sections."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for title, is_setting in (("Options", False), ("Settings", True)):
            chosen = [each for each in options if isinstance(each, SettingOption) is is_setting]
            records = filter(None, (each.get_help_record(ctx) for each in chosen))
            with formatter.section(title):
                formatter.write_dl(list(records))


def flag(name: str) -> str:
    """Name the flag of a setting."""
    return "--" + name.replace("_", "-")


def with_settings(names: tuple[str, ...]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the flags of these settings, and ``Settings`` as its first argument.

    The settings that are not among them still follow their variables.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def called(**given: Any) -> int:
            flags = {name: given.pop(name) for name in names}
            return command(build_settings(flags), **given)

        decorated: Callable[..., int] = called
        for name in reversed(names):
            decorated = _option(name)(decorated)
        return decorated

    return decorate


def list_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add what lists are narrowed by."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print a JSON array."),
        click.option("--all", "everything", is_flag=True, help="Print all, however many."),
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            help="Print most; without it 50 on a screen, and all that is found elsewhere.",
        ),
        click.option(
            "--sort",
            type=click.Choice([each.value for each in Sort]),
            help="What comes first; without it the best, or without words the newest.",
        ),
        click.option("--status", default="", help="saved, failed, queued, or an HTTP status."),
        click.option("--host", default="", metavar="HOST", help="Only of this host."),
        click.option("--tag", default="", metavar="TAG", help="Only with this tag."),
    ):
        command = option(command)
    return command


def build_settings(flags: Mapping[str, object]) -> Settings:
    """Build the settings: a flag wins over its variable, and both over the default.

    Args:
        flags: by setting; None, or an empty tuple, where the flag was not given.

    Raises:
        click.UsageError: a value is wrong; names the flag or the variable that holds it.
    """
    given = {name: value for name, value in flags.items() if value is not None and value != ()}
    try:
        return read_settings(given, os.environ)
    except InvalidSettings as error:
        raise click.UsageError(_explain(error.reasons, given)) from error


def _option(name: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    setting = SETTINGS[name]
    metavar = setting.kind.metavar
    declaration = f"{flag(name)}/--no-{flag(name)[2:]}" if not metavar else flag(name)
    return click.option(
        declaration,
        name,
        cls=SettingOption,
        default=None,
        multiple=setting.kind.is_list,
        metavar=metavar or None,
        type=click.BOOL if not metavar else click.STRING,
        help=f"{setting.description}  [{variable(name)}{_shown_default(setting)}]",
    )


def _shown_default(setting: Setting) -> str:
    default = setting.default
    if default in (None, ()):
        return ""
    return f"; default: {'false' if default is False else default}"


def _explain(reasons: Mapping[str, str], given: Mapping[str, object]) -> str:
    """One sentence for each setting that is wrong."""
    return " ".join(
        f"{flag(name) if name in given else variable(name)}: {reason}."
        for name, reason in reasons.items()
    )
