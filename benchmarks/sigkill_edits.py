"""Kills the service during edits, deletions and compaction; then checks acknowledged changes.

Usage: python -m benchmarks.sigkill_edits [--kills N] [--entries N] [--seed N]

In each round a service is started, gets edits and deletions over its API as fast as possible, every
third time together with ``archiver compact``, and is killed at a random time. Acknowledged changes
must be there after each kill, deleted entries must not; unacknowledged changes may be either. In
the end ``verify`` and ``warcio check`` must find no problems, ``reindex`` must give the same
export, and no compacted segment may contain deleted data.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from benchmarks.capture import run
from benchmarks.crawl import crawl_settings
from benchmarks.fast_server import FastServer
from benchmarks.pywb_replay import free_port, serving
from benchmarks.sigkill import responses

MIN, MAX = 0.05, 1.5
COMPACT_EVERY = 3
DELETE_ONE_IN = 12

FIELDS = ("title", "note", "tags", "is_read", "is_starred")

Said = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--entries", type=int, default=400)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, FastServer(body=500) as server:
        data = Path(directory) / "data"
        environment = os.environ | crawl_settings(data, 100)
        environment["ARCHIVER_LOG_LEVEL"] = "error"
        fill(environment, Path(directory), server, options.entries)
        witness = ChangeClient(environment, random.Random(options.seed))
        for n in range(options.kills):
            witness.round(with_compaction=n % COMPACT_EVERY == 0)
        found = [
            *witness.faults,
            *final_check(environment, data, server, set(witness.deleted.values())),
        ]
    print(f"killed          {options.kills} times")
    print(f"acknowledged    {witness.edits} edits, {witness.deletions} deletions")
    print(f"faults          {len(found)}")
    for each in found:
        print(f"  {each}")
    if found:
        raise SystemExit(1)


def fill(environment: dict[str, str], scratch: Path, server: FastServer, count: int) -> None:
    """Create an archive of ``count`` pages."""
    listing = scratch / "urls.txt"
    listing.write_text("".join(f"{server.url(n)}\n" for n in range(count)))
    run(["import", str(listing), "--no-crawl"], environment)
    run(["crawl"], environment)


class ChangeClient:
    """Client that requests changes and remembers what was acknowledged."""

    def __init__(self, environment: dict[str, str], chance: random.Random) -> None:
        self._environment = environment
        self._chance = chance
        self._said: dict[str, Said] = {}
        self._doubtful: dict[str, Said | None] = {}
        self.deleted: dict[str, str] = {}
        self.faults: list[str] = []
        self.edits = self.deletions = 0
        self._count = 0

    def round(self, *, with_compaction: bool) -> None:
        """Start the service, check its content, make changes, kill it."""
        port = free_port()
        serve = [*command("serve"), "--port", str(port)]
        with serving(serve, port, environment=self._environment) as process:
            if not self._said:
                self._said = everything(port)
            self._look(port)
            processes = [process]
            if with_compaction:
                processes.append(begin("compact", self._environment))
            killer = threading.Timer(self._chance.uniform(MIN, MAX), kill, [processes])
            killer.start()
            while self._change(port):
                pass
            killer.join()
            for each in processes:
                each.wait()

    def _look(self, port: int) -> None:
        """Check the service's content against the acknowledged changes."""
        found = everything(port)
        for name, under_way in self._doubtful.items():
            if found.get(name) == under_way:
                self._settle(name, under_way)
        self._doubtful.clear()
        self.faults += [f"{name} came back" for name in found.keys() & self.deleted.keys()]
        self.faults += [f"{name} was lost" for name in self._said.keys() - found.keys()]
        for name in self._said.keys() & found.keys():
            if found[name] != self._said[name]:
                self.faults.append(f"{name} says {found[name]}, not {self._said[name]}")
                self._said[name] = found[name]

    def _change(self, port: int) -> bool:
        """Make one change; return whether the service acknowledged it."""
        name = self._chance.choice(sorted(self._said))
        after = None if self._chance.randrange(DELETE_ONE_IN) == 0 else self._edited(name)
        self._doubtful = {name: after}
        method, body = (
            ("DELETE", None)
            if after is None
            else ("PATCH", json.dumps({field: after[field] for field in FIELDS}))
        )
        try:
            status, _ = ask(port, method, f"/api/v1/entries/{name}", body)
        except (OSError, HTTPException):
            return False
        if status >= 300:
            self.faults.append(f"{method} of {name} was answered with {status}")
        self._doubtful.clear()
        self._settle(name, after)
        self.edits += after is not None
        self.deletions += after is None
        return True

    def _edited(self, name: str) -> Said:
        self._count += 1
        changed: Said = self._chance.choice(
            [
                {"title": f"title {self._count}"},
                {"note": f"note {self._count}"},
                {"tags": sorted({f"tag{self._chance.randrange(9)}" for _ in range(3)})},
                {"is_read": bool(self._chance.randrange(2))},
                {"is_starred": bool(self._chance.randrange(2))},
            ]
        )
        return self._said[name] | changed

    def _settle(self, name: str, after: Said | None) -> None:
        if after is None:
            self.deleted[name] = self._said.pop(name)["url"]
        else:
            self._said[name] = after


def everything(port: int) -> dict[str, Said]:
    """Return the editable fields and URL of each listed entry by hash_url."""
    found, cursor = {}, ""
    while True:
        _, body = ask(port, "GET", f"/api/v1/entries?limit=200&after={cursor}")
        page = json.loads(body)
        for each in (item["entry"] for item in page["items"]):
            found[each["hash_url"]] = {field: each[field] for field in ("url", *FIELDS)}
        if not page["after"]:
            return found
        cursor = page["after"]


def ask(port: int, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
    """Return (status, body) of a request.

    Raises:
        OSError, HTTPException: no response.
    """
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def begin(command: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a command that runs until it is killed."""
    return subprocess.Popen(
        [sys.executable, "-m", "archiver", command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill(processes: list[subprocess.Popen[bytes]]) -> None:
    """Kill all processes together."""
    for each in processes:
        each.kill()


def final_check(
    environment: dict[str, str], data: Path, server: FastServer, deleted: set[str]
) -> list[str]:
    """Return the problems found at the end."""
    faults = []
    run(["compact"], environment)
    run(["crawl"], environment)
    before = exported(environment)
    if subprocess.run(
        command("verify"), env=environment, check=False, capture_output=True
    ).returncode:
        faults.append("verify found something")
    checked = [sys.executable, "-m", "warcio.cli", "check", *sorted((data / "warc").iterdir())]
    if subprocess.run(checked, check=False, capture_output=True).returncode:
        faults.append("warcio check found something")
    left = responses(data, server.base).keys() & deleted
    faults += [f"{url} is still in a segment" for url in sorted(left)]
    run(["reindex"], environment)
    changed = sorted(before ^ exported(environment))
    return faults + [f"reindex changed {line[:200]}" for line in changed]


def exported(environment: dict[str, str]) -> set[str]:
    """Return the entries of an export as a set, because entries of one second have no order."""
    return set(run(["export", "jsonl", "-"], environment).splitlines())


def command(name: str) -> list[str]:
    """Return a command of the program."""
    return [sys.executable, "-m", "archiver", name]


if __name__ == "__main__":
    main()
