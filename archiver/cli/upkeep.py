"""The commands that look after an archive: its password, its bytes, its index."""

from pathlib import Path

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
@click.option(
    "--accept-missing",
    is_flag=True,
    help="Build the index even if entries of missing or damaged segments are lost.",
)
@with_settings(COMMON)
def reindex(settings: Settings, *, accept_missing: bool) -> int:
    """Rebuild the index from the WARC files.

    If segments are missing that the current index uses, the command names them, leaves the index
    as it is and exits with 1.
    """
    return run_body("reindex", settings, accept_missing=accept_missing)


@click.command(cls=Command)
@click.option("--unsealed", is_flag=True, help="List the segments that are not uploaded.")
@click.option("--forget", metavar="NAME", help="Give up a machine that is lost for good.")
@with_settings(COMMON)
def machines(settings: Settings, *, unsealed: bool, forget: str | None) -> int:
    """List the workers that are alive at an index on a server.

    Prints the machine, whether it is this one, the worker, its address, and since when it works.
    Exits with 1 if there are none.

    With --unsealed prints the segments that are not uploaded yet: machine, whether it is this one,
    segment, bytes. With --forget notes for each entry which snapshots were lost with a machine.
    """
    return run_body("machines", settings, unsealed=unsealed, forget=forget)


@click.group()
def cookies() -> None:
    """Cookies for the crawl, for pages that know you: sent to their own hosts alone.

    They are stored in cookies.txt of the data directory, readable only by its owner; on servers
    they are in the database. They are written into no WARC file, export or log.
    """


@cookies.command("import", cls=Command)
@click.argument(
    "file",
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path),
)
@with_settings(COMMON)
def import_cookies(settings: Settings, file: Path) -> int:
    """Keep the cookies of a cookies.txt in Netscape's format; "-" reads standard input."""
    return run_body("cookies", settings, file=file)


@cookies.command("list", cls=Command)
@with_settings(COMMON)
def list_cookies(settings: Settings) -> int:
    """List what is kept: host, path, name, last day; never a value."""
    return run_body("cookies", settings)


@cookies.command("remove", cls=Command)
@click.argument("host", metavar="HOST")
@with_settings(COMMON)
def remove_cookies(settings: Settings, host: str) -> int:
    """Forget the cookies of a host and of those beneath it."""
    return run_body("cookies", settings, remove=host)


@click.command(cls=Command)
@click.option(
    "--to",
    multiple=True,
    required=True,
    metavar="PLACE",
    help="folder, or postgresql://user@host/database, s3://bucket/prefix, or both of these.",
)
@click.option("--from", "from_", multiple=True, metavar="PLACE", help="Where it lies, to be sure.")
@click.option("--remove", is_flag=True, help="Remove segments where they lay, in the end.")
@with_settings(COMMON)
def migrate(
    settings: Settings, *, to: tuple[str, ...], from_: tuple[str, ...], remove: bool
) -> int:
    """Move the archive: its segments between folder and store, its index between file and server.

    Each segment is read back before it counts; the index is built anew, and takes along what
    waits. Broken off, the same command goes on. In the end everything is checked as `archiver
    verify` does; exits with 1 if anything is wrong.
    """
    return run_body("migrate", settings, to=to, from_=from_, remove=remove)


UPKEEP = (cookies, machines, password, verify, compact, reindex, migrate)
