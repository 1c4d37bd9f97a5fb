"""Rules of the user for individual sites, such as the delay between requests."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from archiver.config import (
    NO_RULE,
    SETTINGS_FILE,
    SITES,
    SiteRule,
    parse_site_rules,
)
from archiver.errors import FetchError, InputError
from archiver.helpers import AtomicFile, FollowedFile
from archiver.http.urls import host, parse_url
from archiver.logs import get_log
from archiver.model.failure import Failure, FailureKind

MAX_BYTES = 1 << 20

log = get_log(__name__)


def site_url(address: str) -> str:
    """Return the URL of an address or host name that a user typed.

    Raises:
        InputError: the address or host name is invalid.
    """
    text = address.strip()
    return parse_url(text if "://" in text else f"https://{text}")


def site_name(address: str) -> str:
    """Return the host of an address or host name that a user typed.

    Raises:
        InputError: the address or host name is invalid.

    >>> site_name("https://www.Example.org:8080/x"), site_name("bücher.example.")
    ('www.example.org', 'xn--bcher-kva.example')
    """
    name = (urlsplit(site_url(address)).hostname or "").removesuffix(".")
    if not name or "*" in name:
        raise InputError("Name a host, such as example.org. Its subdomains are included.")
    return name


def names_port(address: str) -> bool:
    """Return whether an address that ``site_name`` accepts has a port, which rules ignore."""
    return urlsplit(site_url(address)).port is not None


class SiteRules:
    """Rules of the settings file in a data directory; a change applies within a second."""

    def __init__(self, data: Path) -> None:
        self._rules: dict[str, SiteRule] = {}
        self._followed = FollowedFile(AtomicFile(data / SETTINGS_FILE), self._read, MAX_BYTES)

    def of_host(self, name: str) -> SiteRule:
        """Return the rule of a host, or of the closest domain above it.

        The port and a final dot are ignored.

        >>> SiteRules(Path("/nonexistent")).of_host("www.a.example:8080").never_save
        False
        """
        rules = self._followed.value
        if not rules:
            return NO_RULE
        name = (urlsplit(f"//{name}").hostname or "").removesuffix(".")
        while name:
            if name in rules:
                return rules[name]
            name = name.partition(".")[2]
        return NO_RULE

    def of(self, url: str) -> SiteRule:
        """Return the rule of a URL's host."""
        return self.of_host(host(url))

    def check(self, name: str) -> SiteRule:
        """Return the rule of a host; raise ``FetchError`` if nothing may be requested from it."""
        rule = self.of_host(name)
        if rule.never_save:
            message = (
                f"Your rule for {name} says never to save it. Change it in Settings, under “Sites”."
            )
            raise FetchError(Failure(FailureKind.EXCLUDED, message))
        return rule

    def _read(self, content: bytes | None) -> dict[str, SiteRule]:
        """Return the rules in the file by host; the earlier rules if the file is now invalid."""
        try:
            document = tomllib.loads((content or b"").decode())
            rules = parse_site_rules(document.get(SITES, {}))
            self._rules = dict(_by_host(rules))
        except ValueError as error:
            log.warning("rules of sites are invalid", file=SETTINGS_FILE, reason=str(error))
        return self._rules


def _by_host(rules: Mapping[str, SiteRule]) -> Iterator[tuple[str, SiteRule]]:
    """Yield rules with their hosts as in URLs; leave out names that are no hosts."""
    for name, rule in rules.items():
        try:
            yield site_name(name), rule
        except InputError as error:
            log.warning("the rule of a site is invalid", host=name, reason=str(error))
