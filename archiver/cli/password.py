"""``archiver password``."""

import asyncio
import sys

import click

from archiver.config import Settings
from archiver.services.access import AccessControl


def run(settings: Settings, *, remove: bool) -> int:
    """Set the password, or take it away."""
    asyncio.run(_set(settings, None if remove else _ask()))
    click.echo("The archive has no password now." if remove else "The password is set.")
    return 0


def _ask() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("New password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().removesuffix("\n").removesuffix("\r")


async def _set(settings: Settings, new: str | None) -> None:
    access = AccessControl(settings.data, settings.password)
    if new is None:
        await access.remove_password()
    else:
        await access.set_password(new)
