"""Copies of a process that has loaded what it needs in place of children that read pages and files.

In this process and in those it starts: ``begun`` is that process, ``launcher`` what is started.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

BEGUN = "ARCHIVER_TEST_BEGUN"
"""The variable that says where that process is called; none is where children are real ones."""
COPIED = "archiver.pages.worker", "archiver.formats.import_worker"
"""What they run."""
_LAUNCHER = Path(__file__).with_name("launcher.py")

Commands = Callable[..., list[str]]


def commands_over(command: Commands) -> Commands:
    """What gives the words that run a child in place of ``child_process.child_command``."""

    def child_command(module: str, *arguments: str) -> list[str]:
        if module not in COPIED or BEGUN not in os.environ:
            return command(module, *arguments)
        return copied_command(os.environ[BEGUN], module, *arguments)

    return child_command


def copied_command(begun: str, module: str, *arguments: str) -> list[str]:
    """What runs a module in a copy of the process that is called there."""
    return [sys.executable, "-I", "-S", str(_LAUNCHER), begun, module, *arguments]
