"""Which moment it is: one clock for all machines that share an index, this machine's else."""

import time
from datetime import UTC, datetime


def boot_seconds() -> float:
    """Seconds that also pass while this process is stopped, or its machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Clock:
    """The server's clock, from when one was asked for it; until then, and without one, ours."""

    def __init__(self) -> None:
        self._ahead: float | None = None

    def set(self, moment_ms: int) -> None:
        """Go by the server's clock, which has just said which moment it is (Unix milliseconds)."""
        self._ahead = moment_ms / 1000 - boot_seconds()

    def now(self) -> datetime:
        """The moment (aware, UTC)."""
        if self._ahead is None:
            return datetime.now(UTC)
        return datetime.fromtimestamp(boot_seconds() + self._ahead, UTC)
