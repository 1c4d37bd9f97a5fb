"""Validates exported WACZ files with the ``wacz`` tool: a full export, and one of a search.

Usage: python -m benchmarks.wacz_validate [--wacz DIR]

DIR is the ``bin`` of an environment with ``wacz`` (PyPI); without it, one is created in a temporary
folder. Pages are captured twice from a local server, so that there are revisits.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks.capture import run
from benchmarks.environments import environment_with
from benchmarks.pywb_replay import capture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wacz", type=Path, help="bin folder of an environment with wacz")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        programs = options.wacz or environment_with(root / "wacz", "wacz")
        environment = os.environ | {"ARCHIVER_DATA": str(capture(root))}
        for name, narrowed in (("all", []), ("some", ["--query", "Page 3"])):
            file = root / f"{name}.wacz"
            run(["export", "wacz", str(file), *narrowed], environment)
            subprocess.run([programs / "wacz", "validate", "-f", file], check=True)


if __name__ == "__main__":
    main()
