"""Generator of settings.md, cli.md and the routes in api.md.

Run ``make docs`` after changing a setting, a command, a route or a field.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from aiohttp import web

from archiver.cli.main import cli
from archiver.config import SETTINGS
from archiver.web.routes import ROUTES

DOCS = Path(__file__).parent
BEGIN, END = "<!-- begin: generated routes -->\n", "<!-- end: generated routes -->\n"


SECTIONS = {
    "data": "Location of the archive",
    "host": "Web service",
    "allow_networks": "Capturing",
    "render": "Browser",
    "rescue": "Public archives and tracking parameters",
    "segment_bytes": "Segments and uploads",
    "feed_interval": "Schedule",
    "articles": "Article extraction",
    "log_level": "Logs",
}
"""Sections of settings.md, by the name of their first setting."""
SETTINGS_INTRODUCTION = """\
A setting can be set with a command line flag, an environment variable or a line in `settings.toml`
in the data directory, which `archiver config NAME VALUE` and the settings page write. If several
are set, the first of them wins; if none is, the default applies. `--data`, `--index`, `--store`,
`--host`, `--port` and `--password` cannot be set in the file, only by flag or variable. Lists are
separated by commas or spaces.

This page is generated from `archiver/config.py`."""

COMMANDS_INTRODUCTION = """\
Generated from `archiver COMMAND --help`. Commands also take [settings](settings.md), which
`archiver COMMAND --help-settings` shows. For shell completion, put
`eval "$(_ARCHIVER_COMPLETE=bash_source archiver)"` into the start-up file (or `zsh_source`; fish:
`_ARCHIVER_COMPLETE=fish_source archiver | source`)."""


def settings() -> str:
    """Return docs/settings.md."""
    tables: dict[str, list[str]] = {}
    for name, setting in SETTINGS.items():
        if name in SECTIONS:
            rows = tables.setdefault(SECTIONS[name], [])
        flag, variable = f"--{name.replace('_', '-')}", f"ARCHIVER_{name.upper()}"
        rows.append(
            f"| `{name}` | `{flag}` | `{variable}` | {_default(name)} | {setting.description} |"
        )
    parts = [
        "# Settings",
        SETTINGS_INTRODUCTION,
        "\n".join(f"- [{title}](#{title.lower().replace(' ', '-')})" for title in tables),
    ]
    for title, rows in tables.items():
        head = ["| name | flag | variable | default | meaning |", "| --- " * 5 + "|"]
        parts += [f"## {title}", "\n".join([*head, *rows])]
    return "\n\n".join(parts) + "\n"


def _default(name: str) -> str:
    default, kind = SETTINGS[name].default, SETTINGS[name].kind
    if isinstance(default, bool):
        return "yes" if default else "no"
    if default in (None, (), ""):
        return "none"
    values = default if isinstance(default, tuple) else [kind.show(default)]
    return ", ".join(f"`{each}`" for each in values)


def commands() -> str:
    """Return docs/cli.md."""
    pages = [*_commands(cli, "archiver")]
    index = [f"- [`{path}`](#{path.replace(' ', '-')}): {_first(each)}" for path, each in pages]
    parts = [
        "# Command line",
        COMMANDS_INTRODUCTION,
        "\n".join(index),
        *(f"## {path}\n\n```text\n{_help(path, each)}\n```" for path, each in pages),
    ]
    return "\n\n".join(parts) + "\n"


def api() -> str:
    """Return docs/api.md with its table of routes replaced."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    rows = ["| route | does |", "| --- | --- |", *map(_row, ROUTES)]
    return before + BEGIN + "\n".join(rows) + "\n" + END + after


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings,
    "cli.md": commands,
    "api.md": api,
}


def _commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")
        elif command:
            yield f"{path} {name}", command


def _first(command: click.Command) -> str:
    return (command.help or "").partition("\n")[0]


def _help(path: str, command: click.Command) -> str:
    context = click.Context(
        command,
        info_name=path,
        max_content_width=90,
        terminal_width=90,
        help_option_names=["-h", "--help"],  # as commands inherit them from the program
    )
    return command.get_help(context).replace("\b\n", "")


def _row(route: web.RouteDef) -> str:
    path = re.sub(r"\{(\w+):[^{}]*(?:\{[^{}]*\})?[^{}]*\}", r"{\1}", route.path)
    doc = inspect.getdoc(route.handler) or ""
    return f"| `{route.method} {path}` | {doc.partition(chr(10))[0]} |"


if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
