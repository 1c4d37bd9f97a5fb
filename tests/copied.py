"""Lets children that read pages and files be copies of one process that has loaded what they need.

To start one takes a third of a second of a processor, and thousands of tests want one that reads a
page or two. Tests of what such a child is as a process (``REAL``) start real ones.
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

from archiver.child_process import child_environment
from archiver.derive import link_file, pool
from tests.in_children.copying import BEGUN, commands_over

TESTS = Path(__file__).parent
CHILDREN = TESTS / "in_children"
REAL = "derive", "test_child_process.py", "test_crawler.py"
"""Rooms and files of tests that start real ones."""


def copy_children() -> None:
    """From now on, in this process and those it starts, while the environment says so."""
    for each in (pool, link_file):
        each.child_command = commands_over(each.child_command)


def copied_for(item: pytest.Item) -> None:
    """Let children be real ones for some tests alone; the program's processes do as this one."""
    if str(CHILDREN) not in (paths := os.environ.get("PYTHONPATH", "")):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(CHILDREN), paths)))
    if item.path.relative_to(TESTS).parts[0] in REAL:
        os.environ.pop(BEGUN, None)
    else:
        os.environ[BEGUN] = _begun()


@cache
def _begun() -> str:
    """Where the process is called of which copies are made; it ends with this one."""
    folder = TemporaryDirectory(prefix="archiver-tests-")
    path = f"{folder.name}/begun"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(100)
        process = subprocess.Popen(
            [sys.executable, CHILDREN / "begun.py", str(listening.fileno())],
            stdin=subprocess.PIPE,
            env=child_environment(),
            pass_fds=[listening.fileno()],
        )
    atexit.register(_end, process, folder)
    return path


def _end(process: "subprocess.Popen[bytes]", folder: TemporaryDirectory[str]) -> None:
    process.communicate()
    folder.cleanup()
