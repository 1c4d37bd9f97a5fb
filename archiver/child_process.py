"""How a process of this program starts another: nothing of the current directory, no secrets.

A child is run by ``-P``, so that a file beside which somebody works is never imported, and gets
the few variables that Python, the C library and TLS need. Whatever it is to know of the settings
comes to it by its arguments or its standard input.
"""

import asyncio
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_PASSED_ON = re.compile(
    "PATH|HOME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|LD_LIBRARY_PATH|SSL_CERT_FILE|SSL_CERT_DIR|MALLOC_.*"
    "|PYTHON(?:HOME|HASHSEED|UNBUFFERED|DONTWRITEBYTECODE|PYCACHEPREFIX)"
)
_PIECE = 64 << 10
_PACKAGE_PARENT = Path(__file__).resolve().parents[1]


def child_command(module: str, *arguments: str) -> list[str]:
    """The words that run a module of this program in a child."""
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment(given: Mapping[str, str] = os.environ, **more: str) -> dict[str, str]:
    """The variables of a child: what it needs of those given, and ``more``.

    ``PYTHONPATH`` names this program, which need not be installed, and of the directories that it
    named before only those that do not depend on where somebody stands.
    """
    paths = [str(_PACKAGE_PARENT)]
    paths += filter(os.path.isabs, given.get("PYTHONPATH", "").split(os.pathsep))
    kept = {name: value for name, value in given.items() if _PASSED_ON.fullmatch(name)}
    return kept | {"PYTHONPATH": os.pathsep.join(paths)} | more


async def end_child(process: asyncio.subprocess.Process) -> None:
    """Kill a child and wait for its end; what it wrote and nobody read is thrown away.

    As long as its output is not read to the end, ``wait`` waits for ever (CPython gh-119710, mended
    in 3.12.4).
    """
    with suppress(ProcessLookupError):
        process.kill()
    if process.stdout is not None:
        with suppress(RuntimeError):  # somebody else is reading it to the end just now
            while await process.stdout.read(_PIECE):
                pass
    await process.wait()
