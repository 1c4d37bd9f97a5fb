"""Runs one benchmark in two checkouts at the same time, and prints the ratio of their CPU times.

Usage: python -m benchmarks.compare_checkouts OTHER [--rounds 4] benchmarks.capture [ARGUMENT ...]

The other checkout has an environment in ``.venv``. Each gets half of the processor cores, swapped
in every round, so both are affected equally by other load. CPU time of child processes is
included.
"""

import argparse
import os
import statistics
import subprocess
import time
from pathlib import Path
from threading import Thread

HERE = Path(__file__).parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    halves = _halves()
    times: dict[Path, list[tuple[float, float]]] = {options.other: [], HERE: []}
    for number in range(options.rounds):
        cores = halves if number % 2 else halves[::-1]
        both = [
            Thread(target=run, args=(root, half, [options.module, *options.arguments], times[root]))
            for root, half in zip(times, cores, strict=True)
        ]
        for each in both:
            each.start()
        for each in both:
            each.join()
    for n, what in enumerate(("processor", "clock")):
        before, now = ([each[n] for each in pairs] for pairs in times.values())
        ratio = statistics.median(b / a for a, b in zip(before, now, strict=True))
        middle = f"{statistics.median(before):8.2f} s -> {statistics.median(now):8.2f} s"
        print(f"{what:10}{middle}, {ratio:.3f} x (median of {options.rounds} pairs)")


def run(root: Path, cores: set[int], command: list[str], times: list[tuple[float, float]]) -> None:
    """Run a module of a checkout on some cores; append (CPU seconds, wall-clock seconds)."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(
        ["taskset", "--cpu-list", ",".join(map(str, cores)), ".venv/bin/python", "-m", *command],
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed in {root}")
    times.append((used.ru_utime + used.ru_stime, time.perf_counter() - started))


def _halves() -> list[set[int]]:
    cores = sorted(os.sched_getaffinity(0))
    return [set(cores[: len(cores) // 2]), set(cores[len(cores) // 2 :])]


if __name__ == "__main__":
    main()
