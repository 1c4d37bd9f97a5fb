"""``archiver password``."""

import sys

import click

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.config import Settings
from archiver.services.access import AccessControl


def run(settings: Settings, *, remove: bool) -> int:
    """Set the password, or take it away."""
    new = None if remove else _ask()
    run_until_signal(_set_there(settings, new) if settings.index else _set_here(settings, new))
    click.echo("The archive has no password now." if remove else "The password is set.")
    return 0


def _ask() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("New password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().removesuffix("\n").removesuffix("\r")


async def _set_here(settings: Settings, new: str | None) -> int:
    return await _set(AccessControl(settings.data, settings.password), new)


async def _set_there(settings: Settings, new: str | None) -> int:
    """With the index, for every machine."""
    async with open_app(settings, reads_only=True) as app:
        access = app.access
        return await _set(access, new)


async def _set(access: AccessControl, new: str | None) -> int:
    if new is None:
        await access.remove_password()
    else:
        await access.set_password(new)
    return 0
