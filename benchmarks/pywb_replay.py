"""Replays captured pages with pywb and compares the responses with ours.

Usage: python -m benchmarks.pywb_replay [--pywb DIR]

Pages are captured twice, so that there are revisits, from a local server with an IP address, whose
keys are often wrong. pywb from PyPI gets the output of ``archiver export warc`` and ``archiver
export wacz``, the latter with the index in it; each capture is requested from all as stored
(``id_``), and once rewritten. DIR is the ``bin`` of an environment with pywb; without it, one is
created in a temporary folder.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from benchmarks.capture import run
from benchmarks.environments import environment_with
from benchmarks.pages import PageServer, generated_pages

PAGES = 12
PATIENCE_SECONDS = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pywb", type=Path, help="bin folder of an environment with pywb")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        programs = options.pywb or environment_with(root / "pywb", "pywb")
        data = capture(root)
        captures = read_captures(data)
        give_to_pywb(root, data, programs)
        compare(root, data, programs, captures)


def give_to_pywb(root: Path, data: Path, programs: Path) -> None:
    """Create pywb collections from exports of the archive, one for each format."""
    for form, name, command in (
        ("warc", "export.warc.gz", []),
        ("wacz", "export.wacz", ["--unpack-wacz"]),
    ):
        exported = root / name
        run(["export", form, str(exported)], os.environ | {"ARCHIVER_DATA": str(data)})
        manager = programs / "wb-manager"
        subprocess.run([manager, "init", form], cwd=root, check=True)
        subprocess.run(
            [manager, "add", *command, form, exported],
            cwd=root,
            check=True,
            stdout=subprocess.DEVNULL,
        )


def capture(root: Path) -> Path:
    """Capture generated pages twice; return the data directory."""
    data = root / "data"
    with PageServer(generated_pages(PAGES)) as server:
        environment = os.environ | {
            "ARCHIVER_DATA": str(data),
            "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
            "ARCHIVER_HOST_DELAY": "0",
            "ARCHIVER_REQUISITE_MAX_AGE": "0",
        }
        urls = [f"{server.base}/page-{n}/" for n in range(PAGES)]
        for _ in range(2):
            run(["add", *urls], environment)
    return data


def read_captures(data: Path) -> list[tuple[str, str, str]]:
    """Return (timestamp, URL, record type) of every response and revisit, read by warcio."""
    captures = []
    for path in sorted((data / "warc").iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type in ("response", "revisit"):
                    moment = record.rec_headers.get_header("WARC-Date")
                    digits = "".join(filter(str.isdigit, moment))
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    captures.append((digits, url, record.rec_type))
    return captures


def compare(root: Path, data: Path, programs: Path, captures: list[tuple[str, str, str]]) -> None:
    """Request every capture from both, and print how often they agree."""
    ours, theirs = free_port(), free_port()
    command = [sys.executable, "-m", "archiver", "serve", "--data", str(data), "--port", str(ours)]
    other = [programs / "wayback", "-p", str(theirs), "-b", "127.0.0.1"]
    revisits = sum(1 for each in captures if each[2] == "revisit")
    print(f"captures                           {len(captures)}, of them revisits: {revisits}")
    whole = True
    with serving(command, ours), serving(other, theirs, cwd=root):
        for form in ("warc", "wacz"):
            same = rewritten = 0
            for timestamp, url, _ in captures:
                mine = get(f"http://127.0.0.1:{ours}/web/{timestamp}id_/{url}")
                yours = get(f"http://127.0.0.1:{theirs}/{form}/{timestamp}id_/{url}")
                same += mine == yours and mine[0] == 200
                status, _ = get(f"http://127.0.0.1:{theirs}/{form}/{timestamp}mp_/{url}")
                rewritten += status == 200
            print(f"{form}: same status and bytes (id_)  {same}")
            print(f"{form}: replayed by pywb (mp_)       {rewritten}")
            whole = whole and len(captures) == same == rewritten
    if not whole:
        raise SystemExit(1)


@contextmanager
def serving(
    command: Sequence[str | Path],
    port: int,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends; wait until it listens."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


def get(url: str) -> tuple[int, bytes]:
    """Return (status, body) of a GET."""
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def free_port() -> int:
    """Return an unused port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
