"""How seldom Python looks for garbage in this process."""

import gc

COLLECT = (200_000, 20, 50)
"""Looking for cycles after every 700 new objects, as Python does, was a fifth of a crawl's time,
and a tenth of what a short command takes."""


def collect_seldom() -> None:
    """Let Python look for garbage seldom."""
    gc.set_threshold(*COLLECT)
