"""Commands of the program, run in the process of the test."""

import asyncio
import sys
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from tempfile import TemporaryFile
from typing import Any, TextIO

import pytest

from archiver.cli.main import run


@dataclass(frozen=True, slots=True)
class CompletedCommand:
    """Exit status and output of a command, named as ``subprocess`` names them."""

    returncode: int
    stdout: str
    stderr: str


def run_command(
    *arguments: str,
    variables: dict[str, str] | None = None,
    input_data: str | bytes = "",
    stdin: TextIO | None = None,
) -> CompletedCommand:
    """Run a command.

    Args:
        arguments: of the command line.
        variables: added to the environment.
        given: content of standard input.
        stdin: standard input, instead of that content.
    """
    output, errors = (TextIOWrapper(BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    with TemporaryFile("w+", encoding="utf-8") as file, pytest.MonkeyPatch.context() as patch:
        file.buffer.write(input_data.encode() if isinstance(input_data, str) else input_data)
        file.seek(0)
        for name, value in (variables or {}).items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", stdin or file)
        patch.setattr(sys, "stdout", output)
        patch.setattr(sys, "stderr", errors)
        status = run(arguments)
    return CompletedCommand(status, _text(output), _text(errors))


async def run_in_thread(*arguments: str, **more: Any) -> CompletedCommand:
    """Run a command while the test's event loop goes on; arguments as above."""
    return await asyncio.to_thread(run_command, *arguments, **more)


def _text(stream: TextIOWrapper) -> str:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, BytesIO)
    return written.getvalue().decode()
