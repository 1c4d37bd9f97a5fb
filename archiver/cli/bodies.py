"""Runs what a command does: its module is loaded only then."""

from importlib import import_module

from archiver import logs
from archiver.config import Settings
from archiver.errors import ConfigurationError

_ELSEWHERE = {"serve": "archiver.web.serve"}
"""The other face runs itself: neither imports the other, this table only names it."""

_BEGIN_ARCHIVE = frozenset({"serve", "add", "import_", "crawl", "password", "cookies"})
"""Bodies that make the data directory; the others want one that is there."""

_WITHOUT_INDEX = frozenset({"reindex", "password", "cookies"})
"""Bodies that need no index of the current version."""


def run_body(command: str, settings: Settings, **given: object) -> int:
    """Import the body of a command and run it; returns the exit status."""
    if command not in _BEGIN_ARCHIVE and not settings.data.is_dir():
        raise ConfigurationError(
            f"There is no archive in {settings.data}. Say where it is with --data or ARCHIVER_DATA."
        )
    logs.configure(settings.log_level, as_json=settings.log_json)
    if command not in _WITHOUT_INDEX and settings.index is None:
        # --help of a command imports this module, and has to be quick.
        from archiver.cli.rebuilding import rebuild_if_outdated  # noqa: PLC0415

        if status := rebuild_if_outdated(settings):
            return status
    body = import_module(_ELSEWHERE.get(command, f"archiver.cli.{command}"))
    status = body.run(settings, **given)
    return status if isinstance(status, int) else 0
