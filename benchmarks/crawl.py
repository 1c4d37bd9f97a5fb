"""Crawl rate compared with two download clients that store nothing, on the same URLs.

Usage: python -m benchmarks.crawl [--urls N] [--body BYTES | --pages FOLDER] [--delay SECONDS]
                                  [--concurrency N] [--runs N] [--only gather,pool,archiver]

Three programs are compared: (a) a semaphore and one gather, (b) a pool over an iterator, (c)
``archiver crawl`` on a queue with the same URLs. Only (c) stores anything, and it must save every
URL; its seconds include starting the program. A loopback server in a separate process sends a
different body for each URL, or copies of the pages of a folder (``NAME/source.html``), each with
different links. In that case (c) also fetches the resources of the pages. The output is medians
over ``--runs`` interleaved rounds.
"""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from benchmarks.fast_server import FastServer, Server
from benchmarks.measure import Cost, measure
from benchmarks.pages import PageServer, read_pages

LABELS = {
    "gather": "(a) semaphore and gather",
    "pool": "(b) pool over an iterator",
    "archiver": "(c) archiver crawl",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=10_000)
    parser.add_argument("--body", type=int, default=256, help="bytes of each body")
    parser.add_argument("--pages", type=Path, help="a folder of real pages instead")
    parser.add_argument("--delay", type=float, default=0, help="answers wait up to so long")
    parser.add_argument("--concurrency", type=int, default=1000, help="of (a), and of (c)'s window")
    parser.add_argument("--pool", type=int, default=100, help="workers of (b)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default=",".join(LABELS))
    parser.add_argument("--processes", type=int, default=0, help="of (c); 0 leaves it to archiver")
    options = parser.parse_args()
    names = options.only.split(",")
    costs: dict[str, list[Cost]] = {name: [] for name in names}
    errors = dict.fromkeys(names, 0)
    for _ in range(options.runs):
        for name in names:
            with serve(options) as server:
                cost, lost = RUNS[name](server, options)
            costs[name].append(cost)
            errors[name] += lost
    show(costs, errors, options.urls)


def serve(options: argparse.Namespace) -> Server:
    """Return the server selected by the options."""
    if options.pages:
        return PageServer(read_pages(options.pages), delay=options.delay)
    return FastServer(body=options.body, delay=options.delay)


def simple_client(name: str, server: Server, options: argparse.Namespace) -> tuple[Cost, int]:
    """Run a client that stores nothing; return its cost and the number of errors."""
    pool = options.concurrency if options.delay else options.pool
    many = options.concurrency if name == "gather" else pool
    with tempfile.TemporaryDirectory() as directory:
        listing = write_urls(Path(directory), server, options.urls)
        cost = measure(["-m", "benchmarks.simple_clients", name, str(listing), str(many)])
    return cost, int(cost.output)


def write_urls(directory: Path, server: Server, count: int) -> Path:
    """Write the URLs of a run, one per line."""
    listing = directory / "urls.txt"
    with listing.open("w") as file:
        file.writelines(f"{server.url(n)}\n" for n in range(count))
    return listing


def archiver(server: Server, options: argparse.Namespace) -> tuple[Cost, int]:
    """Run our crawl; return its cost and the number of URLs that were not saved."""
    with tempfile.TemporaryDirectory() as directory:
        environment = os.environ | crawl_settings(Path(directory) / "data", options.concurrency)
        if options.processes:
            environment["ARCHIVER_CRAWL_PROCESSES"] = str(options.processes)
        listing = write_urls(Path(directory), server, options.urls)
        measure(["-m", "archiver", "import", str(listing), "--no-crawl"], environment)
        cost = measure(["-m", "archiver", "crawl"], environment)
    counts = dict(line.split("\t") for line in cost.output.splitlines())
    return cost, options.urls - int(counts["saved"])


def crawl_settings(data: Path, concurrency: int) -> dict[str, str]:
    """Return settings without delays and limits for one host on loopback."""
    return {
        "ARCHIVER_DATA": str(data),
        "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
        "ARCHIVER_CONCURRENCY": str(concurrency),
        "ARCHIVER_HOST_CONCURRENCY": str(concurrency),
        "ARCHIVER_HOST_DELAY": "0",
    }


RUNS = {
    "gather": lambda server, options: simple_client("gather", server, options),
    "pool": lambda server, options: simple_client("pool", server, options),
    "archiver": archiver,
}


def show(costs: dict[str, list[Cost]], errors: dict[str, int], urls: int) -> None:
    """Print the table and the ratios."""
    print(f"{'':28}{'URLs/s':>9}{'CPU s/1,000':>13}{'peak MB':>9}{'errors':>8}")
    rates = {}
    for name, cost in costs.items():
        rates[name] = statistics.median(urls / each.seconds for each in cost)
        cpu = statistics.median(1000 * each.cpu / urls for each in cost)
        memory = max(each.memory for each in cost) / 1e6
        row = f"{rates[name]:>9,.0f}{cpu:>13.3f}{memory:>9.0f}{errors[name]:>8}"
        print(f"{LABELS[name]:28}{row}")
    for other, letter in (("gather", "a"), ("pool", "b")):
        if "archiver" in rates and other in rates:
            print(f"(c)/({letter}) = {rates['archiver'] / rates[other]:.2f}")


if __name__ == "__main__":
    main()
