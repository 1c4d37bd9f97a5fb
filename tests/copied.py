"""Lets processes be copies of one that has loaded what they need.

To start a child that reads pages and files takes a third of a second of a processor, and thousands
of tests want one that reads a page or two; to start the program takes more, and hundreds of tests
want what a command does. Tests of what such a process is as one (``REAL``) start real ones.
"""

import atexit
import os
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from archiver.formats import import_process
from archiver.helpers import child_environment
from archiver.pages import worker_pool
from tests.in_children.copying import BEGUN, commands_over, copied_command

TESTS = Path(__file__).parent
CHILDREN = TESTS / "in_children"
REAL = "derive", "test_child_process.py", "test_crawler.py"
"""Rooms and files of tests that start real ones."""
CHILD, PROGRAM = "loaded", "loaded_program"
"""Modules that load what is needed."""
LIGHT = "list", "search", "show"


def copy_children() -> None:
    """From now on, in this process and those it starts, while the environment says so."""
    for each in (worker_pool, import_process):
        each.child_command = commands_over(each.child_command)


def copied_for(item: pytest.Item) -> None:
    """Let children be real ones for some tests alone; the program's processes do as this one."""
    if str(CHILDREN) not in (paths := os.environ.get("PYTHONPATH", "")):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(CHILDREN), paths)))
    if item.path.relative_to(TESTS).parts[0] in REAL:
        os.environ.pop(BEGUN, None)
    else:
        os.environ[BEGUN] = _begun(CHILD)


def program(*words: str) -> list[str]:
    """What runs the program to its end, in a copy; who sends it signals runs a real one.

    So does who runs one of the ``LIGHT``: it loads less than the others.
    """
    if BEGUN not in os.environ or words[0] in LIGHT:
        return [sys.executable, "-m", "archiver", *words]
    return copied_command(_begun(PROGRAM), "archiver.__main__", *words)


@cache
def _begun(loaded: str) -> str:
    """Where the process is called of which copies are made; it ends with this one."""
    folder = TemporaryDirectory(prefix="archiver-tests-")
    path = f"{folder.name}/begun"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(100)
        process = subprocess.Popen(
            [sys.executable, CHILDREN / "begun.py", str(listening.fileno()), loaded],
            stdin=subprocess.PIPE,
            env=child_environment() if loaded == CHILD else os.environ,
            pass_fds=[listening.fileno()],
        )
    atexit.register(_end, process, folder)
    return path


def _end(process: "subprocess.Popen[bytes]", folder: TemporaryDirectory[str]) -> None:
    process.communicate()
    folder.cleanup()
