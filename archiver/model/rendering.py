"""Whether a page was shown by a browser before it was kept, and what that tells of its host."""

from enum import StrEnum


class Rendering(StrEnum):
    """How a snapshot's page came to what is read and searched; stored by these names."""

    NONE = ""
    """As it was sent: it has what it has without its scripts."""
    NEEDED = "needed"
    """As it was sent, but it is empty without its scripts, and nobody ran them."""
    DONE = "done"
    """As it stood once a browser had run its scripts."""


class Look(StrEnum):
    """What a plain look at a page told of its host; stored by these names."""

    NONE = ""
    """Nothing that is worth keeping: most hosts never need a browser."""
    EMPTY = "empty"
    """It was empty without its scripts."""
    WALLED = "walled"
    """A wall stood in its place, which a browser came through."""
    WHOLE = "whole"
    """It was whole, at a host whose last page was not."""
