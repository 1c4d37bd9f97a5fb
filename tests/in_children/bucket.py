"""Places in a bucket that stand for folders of segments, in this process and in those it starts."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

BUCKET = "ARCHIVER_TEST_BUCKET"
"""The variable that names the bucket."""
OWN = "ARCHIVER_TEST_OWN_STORES"
"""That is set while a test says itself where its segments lie."""


def place_of(data: Path) -> str:
    """What stands for the segments of a data directory."""
    return f"s3://{os.environ[BUCKET]}/{hashlib.sha256(bytes(data.absolute())).hexdigest()[:16]}"


def shelves_over(opened: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What opens a shelf in place of ``archive.open_shelf``."""

    def open_shelf(settings: Any) -> Any:
        if settings.store is not None or OWN in os.environ:
            return opened(settings)
        known = settings.data / "store"
        place = known.read_text().strip() if known.exists() else place_of(settings.data)
        shelf = opened(replace(settings, store=place))
        shelf.forget = lambda _, forget=shelf.forget: forget(0)
        return shelf

    return open_shelf
