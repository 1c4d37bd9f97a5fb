"""CPU seconds of commands on a small archive, from start to exit.

``--against`` names a checkout of another version; the two run in turn, so that other load affects
both equally. Compiled modules are cached in a separate directory, as for an installed program.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parents[1]
COMMANDS = {
    "--version": ["--version"],
    "--help": ["--help"],
    "list": ["list"],
    "list --json": ["list", "--json"],
    "search": ["search", "clever"],
    "show": ["show", "{url}"],
    "verify": ["verify"],
    "export markdown": ["export", "markdown", "{out}"],
    "add (nothing there)": ["add", "http://127.0.0.1:1/"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    arguments = parser.parse_args()
    trees = {"here": HERE}
    if arguments.against:
        trees["there"] = arguments.against.resolve()
    print(f"{'CPU seconds, median (least)':28}", *(f"{name:>18}" for name in trees))
    for title, command in COMMANDS.items():
        print(f"{title:28}", *(f"{each:>18}" for each in row(trees, command, arguments.runs)))


def row(trees: dict[str, Path], command: list[str], runs: int) -> list[str]:
    with TemporaryDirectory() as scratch:
        times: dict[str, list[float]] = {name: [] for name in trees}
        for _ in range(runs + 1):
            for name, tree in trees.items():
                times[name].append(cpu(tree, Path(scratch) / name, command))
    # The first run compiles the modules.
    return [f"{statistics.median(each[1:]):.3f} ({min(each[1:]):.3f})" for each in times.values()]


def cpu(tree: Path, scratch: Path, command: list[str]) -> float:
    """Run a command of a checkout on an archive; return its CPU seconds."""
    data = scratch / "data"
    if not data.exists():
        run(tree, scratch, ["import", str(links(scratch)), "--no-crawl"])
    names = {"{url}": URL, "{out}": str(scratch / "out")}
    return run(tree, scratch, [names.get(word, word) for word in command])


URL = "https://example.com/7"


def links(scratch: Path) -> Path:
    scratch.mkdir(parents=True, exist_ok=True)
    path = scratch / "links.txt"
    path.write_text("".join(f"https://example.com/{number}\n" for number in range(200)))
    return path


def run(tree: Path, scratch: Path, command: list[str]) -> float:
    environment = os.environ | {
        "PYTHONPATH": str(tree),
        "PYTHONSAFEPATH": "1",
        "PYTHONPYCACHEPREFIX": str(scratch / "compiled"),
        "ARCHIVER_DATA": str(scratch / "data"),
        "ARCHIVER_RETRIES": "0",
        "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "archiver", *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
