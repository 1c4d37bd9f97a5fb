"""Permissions in addresses of replay: ``/web/~token/{timestamp}{modifier}/{url}``.

A replayed page has an opaque origin, so no cookie comes with what it loads. The addresses of that
carry a permission instead: for this one memento, until soon, and to be framed. Whatever is loaded
by such an address gives the same end on to what it loads in its turn; nothing renews it.

Without a password a permission opens nothing that is not open, and only lets a memento be framed.
"""

import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from archiver.rewrite.address import (
    PathWriter,
    PathWriters,
    ReplayAddress,
    plain_path,
    replay_path,
)
from archiver.web.signing import Signer

MINUTES = 60
WINDOW_SECONDS = 15 * MINUTES
"""A permission lives for one to two of these: addresses stay the same for a while, as caches like.
"""
OPEN_WINDOW_SECONDS = 24 * 60 * MINUTES
"""The same without a password."""
_NEVER = 0
"""When a permission ended that never opened anything."""
_PURPOSE = "replay"
_TOKEN = re.compile(
    r"([0-9a-f]{1,12})\.([A-Za-z0-9_-]{0,160})\.([0-9a-f]{16})?\.([A-Za-z0-9_-]{22})"
)


@dataclass(frozen=True, slots=True)
class Permission:
    """To see mementos.

    Attributes:
        ends: when it is over, in seconds since 1970.
        home: origin of the service, where replay has one of its own; else empty.
        banner: number of the banner above what is shown (``shown``); empty for what has none.
    """

    ends: int
    home: str = ""
    banner: str = ""


class Permissions:
    """Gives permissions, and tells whether one was given.

    Args:
        signer: of the archive.
        has_password: whether there is one.
        clock: seconds since 1970.
    """

    def __init__(
        self, signer: Signer, *, has_password: bool, clock: Callable[[], float] = time.time
    ) -> None:
        self._signer = signer
        self.has_password = has_password
        self.clock = clock

    def new(self, home: str = "", banner: str = "") -> Permission:
        """A permission from now on."""
        window = WINDOW_SECONDS if self.has_password else OPEN_WINDOW_SECONDS
        return Permission((int(self.clock()) // window + 2) * window, home, banner)

    def write(self, permission: Permission, address: ReplayAddress) -> str:
        """The path of a memento with permission to see it."""
        home = urlsafe_b64encode(permission.home.encode()).decode().rstrip("=")
        signature = self._signer.sign(_PURPOSE, _text(permission, address))
        prefix = f"/web/~{permission.ends:x}.{home}.{permission.banner}.{signature}"
        return replay_path(address.timestamp_prefix, address.modifier, address.url, prefix=prefix)

    def given(self, token: str, address: ReplayAddress) -> Permission | None:
        """The permission that a token was given for an address, even if it is over."""
        found = _TOKEN.fullmatch(token)
        if found is None:
            return None
        try:
            home = urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4)).decode("ascii")
        except ValueError:
            return None
        permission = Permission(int(found[1], 16), home, found[3] or "")
        is_ours = self._signer.verifies(_PURPOSE, _text(permission, address), found[4])
        return permission if is_ours else None

    def opens(self, token: str, address: ReplayAddress) -> Permission | None:
        """The permission that a token is for an address now."""
        permission = self.given(token, address)
        return permission if permission and self.clock() < permission.ends else None

    def writers(self, held: Permission | None) -> PathWriters:
        """How addresses are written in what is replayed.

        With a password every requisite and frame needs a permission of its own, and links have
        none: another page is another's permission, which a person who is signed in needs not.
        Below a banner they have one that never opened anything, and only names the banner.
        Without one, whatever may be framed leads only to what may be, too.

        Args:
            held: the permission that the answer is asked for with; None if it is asked for
                without; its banner goes on to what takes the place of what it shows.
        """
        given = (self.has_password and held) or self.new()
        signed = partial(self.write, replace(given, banner=""))
        plain = plain_path
        if held is not None:
            plain = partial(self.write, replace(given, banner=held.banner))
        if not self.has_password:
            return PathWriters(frame=signed, link=plain, redirect=plain)
        if held is not None and held.banner:
            plain_link: PathWriter = partial(self.write, Permission(_NEVER, banner=held.banner))
        else:
            plain_link = plain_path
        link = partial(_at, held.home if held else "", plain_link)
        return PathWriters(requisite=signed, frame=signed, link=link, redirect=plain)


def _text(permission: Permission, address: ReplayAddress) -> str:
    """What is signed; a space stands in none of its parts."""
    moment = f"{address.timestamp_prefix}{address.modifier}"
    return f"{permission.ends:x} {permission.home} {permission.banner} {moment} {address.url}"


def _at(origin: str, write: PathWriter, address: ReplayAddress) -> str:
    return origin + write(address)
