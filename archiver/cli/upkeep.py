"""The commands that look after an archive: its password, its bytes, its index."""

import click

from archiver.cli.bodies import run_body
from archiver.cli.options import COMMON, Command, with_settings
from archiver.config import Settings


@click.command(cls=Command)
@click.option("--remove", is_flag=True, help="Let everybody in who can connect.")
@with_settings(COMMON)
def password(settings: Settings, *, remove: bool) -> int:
    """Set the password of the web service, or another one: asked for, or a line of input.

    It signs everybody out; a running service knows it within seconds.
    """
    return run_body("password", settings, remove=remove)


@click.command(cls=Command)
@with_settings(COMMON)
def verify(settings: Settings) -> int:
    """Read everything back and check it; prints what is wrong.

    Exits with 1 if anything is.
    """
    return run_body("verify", settings)


@click.command(cls=Command)
@click.option("--dry-run", is_flag=True, help="Only say what would be freed.")
@with_settings(COMMON)
def compact(settings: Settings, *, dry_run: bool) -> int:
    """Erase what was thrown away: it leaves the disk, and can't be undone any more.

    Prints how many segments were written anew, how many records were erased, how many bytes that
    freed, and a line for each segment that had to be left for now.
    """
    return run_body("compact", settings, dry_run=dry_run)


@click.command(cls=Command)
@with_settings(COMMON)
def reindex(settings: Settings) -> int:
    """Build the database again from the WARC files alone."""
    return run_body("reindex", settings)


UPKEEP = (password, verify, compact, reindex)
