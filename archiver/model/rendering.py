"""Whether a page was shown by a browser before it was kept."""

from enum import StrEnum


class Rendering(StrEnum):
    """How a snapshot's page came to what is read and searched; stored by these names."""

    NONE = ""
    """As it was sent: it has what it has without its scripts."""
    NEEDED = "needed"
    """As it was sent, but it is empty without its scripts, and nobody ran them."""
    DONE = "done"
    """As it stood once a browser had run its scripts."""
