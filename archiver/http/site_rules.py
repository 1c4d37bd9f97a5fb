"""Rules of the user for individual sites, such as the delay between requests."""

import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from archiver.config import (
    NO_RULE,
    SETTINGS_FILE,
    SITES,
    InvalidSettings,
    SiteRule,
    parse_site_rules,
)
from archiver.errors import FetchError
from archiver.helpers import AtomicFile, FollowedFile
from archiver.http.urls import host
from archiver.logs import get_log
from archiver.model.failure import Failure, FailureKind

MAX_BYTES = 1 << 20

log = get_log(__name__)


class SiteRules:
    """Rules of the settings file in a data directory; a change applies within a second."""

    def __init__(self, data: Path) -> None:
        self._rules: dict[str, SiteRule] = {}
        self._followed = FollowedFile(AtomicFile(data / SETTINGS_FILE), self._read, MAX_BYTES)

    def of_host(self, name: str) -> SiteRule:
        """Return the rule of a host, or of the closest domain above it; the port is ignored.

        >>> SiteRules(Path("/nonexistent")).of_host("www.a.example:8080").never_save
        False
        """
        rules = self._followed.value
        if not rules:
            return NO_RULE
        name = urlsplit(f"//{name}").hostname or ""
        while name:
            if name in rules:
                return rules[name]
            name = name.partition(".")[2]
        return NO_RULE

    def of(self, url: str) -> SiteRule:
        """Return the rule of a URL's host."""
        return self.of_host(host(url))

    def check(self, name: str) -> None:
        """Raise ``FetchError`` if nothing may be requested from a host."""
        if self.of_host(name).never_save:
            message = (
                f"Your rule for {name} says never to save it. Change it in Settings, under “Sites”."
            )
            raise FetchError(Failure(FailureKind.EXCLUDED, message))

    def _read(self, content: bytes | None) -> dict[str, SiteRule]:
        """Return the rules in the file by host; the earlier rules if the file is now invalid."""
        try:
            found = tomllib.loads((content or b"").decode())
            self._rules = parse_site_rules(found.get(SITES, {}))
        except (InvalidSettings, ValueError) as error:
            log.warning("rules of sites are invalid", file=SETTINGS_FILE, reason=str(error))
        return self._rules
