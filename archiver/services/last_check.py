"""When all was read back last (``archiver verify``), and what that found: one small file."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from archiver.kept_file import KeptFile
from archiver.wire.moments import read_iso, write_iso

VERIFIED = "verified"
MOST_BYTES = 4096
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class LastCheck:
    """What reading everything back found.

    Attributes:
        at: when it ended (aware, UTC).
        records: how many were read.
        problems: how many were wrong, or missing.
    """

    at: datetime
    records: int
    problems: int


async def keep_check(data: Path, *, records: int, problems: int) -> None:
    """Keep what was found now, in the folder of the archive; a disk that refuses is passed over."""
    document = {
        "at": write_iso(datetime.now(UTC).replace(microsecond=0)),
        "records": records,
        "problems": problems,
    }
    kept = KeptFile(data / VERIFIED, mode=_MODE)
    with suppress(OSError):
        await asyncio.to_thread(kept.write, json.dumps(document).encode())


async def last_check(data: Path) -> LastCheck | None:
    """What was found last; None if nobody looked, or nobody can read it."""
    kept = KeptFile(data / VERIFIED, mode=_MODE)
    try:
        content = await asyncio.to_thread(kept.read, MOST_BYTES)
        found = json.loads(content or b"")
        return LastCheck(read_iso(found["at"]), int(found["records"]), int(found["problems"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
