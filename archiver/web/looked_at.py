"""Uploaded files that are looked at and not yet imported: kept by a token, gone after a day."""

import json
import time
from pathlib import Path

from archiver.errors import NotFound
from archiver.patterns import late_pattern
from archiver.values import frozen

LOOKED_AT = ".look"
_NAME = ".name"
_TOKEN = late_pattern(r"[0-9a-f]{32}")
_STALE_SECONDS = 86400
_GONE = "This file is not kept any more. Give it again."


@frozen
class LookedAt:
    """A file that waits for somebody to say what becomes of it."""

    token: str
    path: Path
    name: str

    def remove(self) -> None:
        """Forget it. Blocking."""
        self.path.unlink(missing_ok=True)
        self.path.with_suffix(_NAME).unlink(missing_ok=True)


def keep(path: Path, name: str) -> LookedAt:
    """Keep a whole file that lies in its directory already. Blocking."""
    kept = path.with_suffix(LOOKED_AT)
    kept.with_suffix(_NAME).write_text(json.dumps(name), encoding="utf-8")
    path.rename(kept)
    return LookedAt(kept.stem, kept, name)


def find(directory: Path, token: str) -> LookedAt:
    """A file that was kept. Blocking.

    Raises:
        NotFound: it is none, or not any more.
    """
    path = directory / f"{token}{LOOKED_AT}"
    if not _TOKEN.fullmatch(token) or not path.is_file():
        raise NotFound(_GONE)
    try:
        name = json.loads(path.with_suffix(_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise NotFound(_GONE) from None
    return LookedAt(token, path, str(name))


def remove_stale(directory: Path) -> None:
    """Remove what nobody said anything of for a day. Blocking."""
    for path in (*directory.glob(f"*{LOOKED_AT}"), *directory.glob(f"*{_NAME}")):
        if path.stat().st_mtime < time.time() - _STALE_SECONDS:
            path.unlink(missing_ok=True)
