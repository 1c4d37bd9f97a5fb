"""Room for visits that take long, so that slow hosts hold up only each other."""

import asyncio


class SlowLane:
    """Room for visits that take long."""

    def __init__(self, room: int) -> None:
        self._size = self._room = room
        self._left = asyncio.Event()

    @property
    def is_crowded(self) -> bool:
        """Whether more than half of it is taken."""
        return self._room * 2 < self._size

    def try_enter(self) -> bool:
        """Take a place, if there is one."""
        if not self._room:
            return False
        self._room -= 1
        return True

    async def enter(self) -> None:
        """Wait for a place."""
        while not self.try_enter():
            self._left.clear()
            await self._left.wait()

    def leave(self) -> None:
        """Give a place back."""
        self._room += 1
        self._left.set()
