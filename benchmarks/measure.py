"""Measurement of a command: seconds, CPU, and memory of all its processes."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

SAMPLE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a command.

    Attributes:
        seconds: wall-clock time.
        cpu: CPU seconds, including child processes.
        memory: peak memory of all processes together; shared pages count once (PSS).
        output: standard output.
    """

    seconds: float
    cpu: float
    memory: int
    output: str


def measure(
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    input: str = "",
    program: str = sys.executable,
    accept: Sequence[int] = (0,),
) -> Cost:
    """Run ``python ARGUMENTS`` or another program to completion.

    An unexpected exit status ends the benchmark. ``PYTHONDONTWRITEBYTECODE`` is not passed on,
    because modules of an installed program are compiled, too.
    """
    variables = dict(environment or os.environ)
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    before, started = os.times(), time.perf_counter()
    process = subprocess.Popen(
        [program, *arguments],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    peaks = [0]
    watching = threading.Thread(target=_watch, args=(process, peaks))
    watching.start()
    output, _ = process.communicate(input)
    seconds = time.perf_counter() - started
    watching.join()
    if process.returncode not in accept:
        raise SystemExit(f"{program} {' '.join(arguments)} failed")
    after = os.times()
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return Cost(seconds, cpu, peaks[0], output)


def _watch(process: "subprocess.Popen[str]", peaks: list[int]) -> None:
    root = psutil.Process(process.pid)
    while process.poll() is None:
        peaks[0] = max(peaks[0], sum(map(_held, _family(root))))
        time.sleep(SAMPLE_SECONDS)


def _family(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _held(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
