"""How often tests try what chance decides: kills at some moment, requests of some shape."""

import os

from tests.copied import TEMPLATE


def times(many: int) -> int:
    """So many times; a third where the same was tried with the index in a file before."""
    return max(2, many // 3) if TEMPLATE in os.environ else many
