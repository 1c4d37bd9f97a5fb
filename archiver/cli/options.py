"""Flags made from the settings: one name, one default, one description, one place."""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from archiver.config import Settings

EVERYTHING = tuple(Settings.model_fields)
COMMON = ("data", "log_level", "log_json")
_SERVING = ("host", "port", "password", "allow_hosts", "replay_origin", "max_upload_bytes")
CRAWLING = tuple(name for name in EVERYTHING if name not in _SERVING)
EXTRACTING = (*COMMON, "extract_processes", "extract_timeout", "extract_memory_bytes")

_METAVARS = (
    (re.compile(r"\bbool\b"), ""),
    (re.compile(r"\bLiteral\b"), "CHOICE"),
    (re.compile(r"\bint\b"), "INTEGER"),
    (re.compile(r"\bfloat\b"), "NUMBER"),
    (re.compile(r"\bPath\b"), "DIR"),
    (re.compile(r"\btuple\b"), "LIST"),
)


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


def variable(name: str) -> str:
    """Name the environment variable of a setting."""
    return f"ARCHIVER_{name.upper()}"


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


def build_settings(flags: Mapping[str, object]) -> Settings:
    """Build the settings: a flag wins over its variable, and both over the default.

    Args:
        flags: by setting; None, or an empty tuple, where the flag was not given.

    Raises:
        click.UsageError: a value is wrong; names the flag or the variable that holds it.
    """
    given: dict[str, Any] = {
        name: ",".join(value) if isinstance(value, tuple) else value
        for name, value in flags.items()
        if value is not None and value != ()
    }
    try:
        return Settings(**given)
    except ValidationError as error:
        raise click.UsageError(_explain(error.errors(include_url=False), given)) from error


def _option(name: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    field = Settings.model_fields[name]
    shape = str(field.annotation)
    metavar = next((metavar for kind, metavar in _METAVARS if kind.search(shape)), "TEXT")
    declaration = f"{flag(name)}/--no-{flag(name)[2:]}" if not metavar else flag(name)
    return click.option(
        declaration,
        name,
        cls=SettingOption,
        default=None,
        multiple=metavar == "LIST",
        metavar=metavar or None,
        type=click.BOOL if not metavar else click.STRING,
        help=f"{field.description}  [{variable(name)}{_shown_default(field)}]",
    )


def _shown_default(field: FieldInfo) -> str:
    if field.default in (None, ()):
        return ""
    return f"; default: {str(field.default).lower() if field.default is False else field.default}"


def _explain(errors: list[ErrorDetails], given: Mapping[str, object]) -> str:
    """One sentence for each setting that is wrong."""
    reasons: dict[str, list[str]] = {}
    for error in errors:
        name = str(error["loc"][0])
        reasons.setdefault(name, []).append(error["msg"])
    return " ".join(
        f"{flag(name) if name in given else variable(name)}: {' or '.join(dict.fromkeys(said))}."
        for name, said in reasons.items()
    )
