"""What the docs say of settings, commands, routes and files is what the program does."""

import re
from pathlib import Path

import pytest
from click import Group

from archiver.cli.main import cli
from archiver.config import Settings
from archiver.web.routes import ROUTES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_documented_with_its_flag_variable_default_and_purpose(name):
    field = Settings.model_fields[name]
    default = "none" if field.default in (None, ()) else f"`{field.default}`"
    if isinstance(field.default, bool):
        default = "yes" if field.default else "no"

    flag, variable = f"--{name.replace('_', '-')}", f"ARCHIVER_{name.upper()}"
    row = f"| `{flag}` | `{variable}` | {default} | {field.description} |"

    assert row in OPERATIONS


def test_every_command_is_in_the_readme():
    assert isinstance(cli, Group)
    assert [name for name in cli.commands if f"`archiver {name}" not in README] == []


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_is_in_the_readme(route):
    path = re.sub(r"\{(\w+):[^{}]*(?:\{[^{}]*\})?[^{}]*\}", r"{\1}", route.path)

    if path.startswith("/api/v1/"):
        assert "/api/v1/…" in README
    elif path.startswith("/web/"):
        assert "/web/{timestamp}{modifier}/{url}" in README
    else:
        assert f"`{route.method} {path}`" in README


@pytest.mark.parametrize("name", ["archive.sqlite3", "warc/", "run/", "secret", "tmp/"])
def test_everything_in_the_data_directory_is_explained(name):
    assert f"`{name}" in OPERATIONS
