"""Directories and files that survive a power loss."""

import os
from pathlib import Path

from archiver.helpers import PRIVATE_DIRECTORY


def make_directory(path: Path) -> None:
    """Create a directory and its parents, accessible to their owner only.

    The parent of each new directory is synced, so that its name survives a power loss.
    """
    if path.is_dir():
        return
    make_directory(path.parent)
    path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Fsync a directory, so that the names in it survive a power loss."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_file(path: Path, *, within: Path) -> None:
    """Fsync a file, its directory and the parents up to ``within``."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
    for directory in path.parents:
        sync_directory(directory)
        if directory == within:
            return
