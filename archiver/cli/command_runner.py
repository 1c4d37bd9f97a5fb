"""Runner of commands, which imports the module of a command when the command runs."""

from importlib import import_module

import click

from archiver import logs
from archiver.config import Settings
from archiver.errors import ConfigurationError

_COMMANDS = {
    "add": ("archiver.cli.entries", "run_add"),
    "compact": ("archiver.cli.maintenance", "run_compact"),
    "cookies": ("archiver.cli.access", "run_cookies"),
    "crawl": ("archiver.cli.crawl", "run_crawl"),
    "delete": ("archiver.cli.entries", "run_delete"),
    "edit": ("archiver.cli.entries", "run_edit"),
    "export": ("archiver.cli.export", "run"),
    "extract": ("archiver.cli.crawl", "run_extract"),
    "feeds": ("archiver.cli.feeds", "run"),
    "import_": ("archiver.cli.imports", "run_import"),
    "config": ("archiver.cli.maintenance", "run_config"),
    "bin": ("archiver.cli.maintenance", "run_bin"),
    "imports": ("archiver.cli.imports", "run_imports"),
    "listing": ("archiver.cli.listing", "run"),
    "lists": ("archiver.cli.lists", "run"),
    "machines": ("archiver.cli.maintenance", "run_machines"),
    "migrate": ("archiver.cli.maintenance", "run_migrate"),
    "password": ("archiver.cli.access", "run_password"),
    "recapture": ("archiver.cli.crawl", "run_recapture"),
    "reindex": ("archiver.cli.maintenance", "run_reindex"),
    "rescue": ("archiver.cli.crawl", "run_rescue"),
    "show": ("archiver.cli.entries", "run_show"),
    "sites": ("archiver.cli.maintenance", "run_sites"),
    "verify": ("archiver.cli.maintenance", "run_verify"),
    "serve": ("archiver.web.serve", "run"),
}
"""Module and function of each command."""

_CREATE_ARCHIVE = frozenset({"serve", "add", "import_", "crawl", "password", "cookies", "sites"})
"""Commands that create the data directory; others require an existing one."""

_WITHOUT_INDEX = frozenset({"reindex", "password", "cookies", "sites"})
"""Commands that do not need an index of the current version."""


_REBUILD_BEGINS = (
    "The index in {data} was written by an earlier version of archiver (schema {revision}). It "
    "is now rebuilt from the WARC files, and the queue is copied."
)
_REBUILD_ENDED = (
    "The index was rebuilt. The earlier one is stored as {backup}: delete it when you no "
    "longer need it; the next `archiver reindex` deletes it too."
)


def run_body(command: str, settings: Settings, **given: object) -> int:
    """Import and run a command; return the exit status."""
    if command not in _CREATE_ARCHIVE and not settings.data.is_dir():
        raise ConfigurationError(
            f"There is no archive in {settings.data}. `archiver serve` creates one; to use another "
            "folder, set --data or ARCHIVER_DATA."
        )
    logs.configure(settings.log_level, as_json=settings.log_json)
    needs_current_index = command not in _WITHOUT_INDEX and settings.index is None
    if needs_current_index and (status := rebuild_if_outdated(settings)):
        return status
    module, function = _COMMANDS[command]
    status = getattr(import_module(module), function)(settings, **given)
    return status if isinstance(status, int) else 0


def rebuild_if_outdated(settings: Settings) -> int:
    """Rebuild the index if an earlier version wrote it; return the exit status.

    Raises:
        ArchiverError: the index can't be rebuilt and is left unchanged.
    """
    # `--help` imports this module and must be fast.
    from archiver.app import outdated_index  # noqa: PLC0415

    revision = outdated_index(settings)
    if revision is None:
        return 0
    from archiver.cli.maintenance import rebuild  # noqa: PLC0415

    click.echo(_REBUILD_BEGINS.format(data=settings.data, revision=revision), err=True)
    status = rebuild(settings)
    if status == 0:
        click.echo(_REBUILD_ENDED.format(backup=f"archive.sqlite3.old-{revision}"), err=True)
    return status
