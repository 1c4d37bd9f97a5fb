"""Our crawl beside its two ancestors, which keep nothing, on the same URLs, in turn.

Usage: python -m benchmarks.crawl [--urls N] [--body BYTES] [--delay SECONDS] [--concurrency N]
                                  [--runs N] [--only gather,pool,archiver]

A server on loopback, in a process of its own, answers each URL with a body of its own. Printed are
medians over ``--runs`` interleaved rounds. (a) is a semaphore and one gather, (b) a pool over an
iterator, (c) ``archiver crawl`` on a queue that holds the same URLs; (c) keeps everything, and is
held to it: every URL must be saved. Its seconds are those of the whole command.
"""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from benchmarks.fast_server import FastServer
from benchmarks.measure import Cost, measure

LABELS = {
    "gather": "(a) semaphore and gather",
    "pool": "(b) pool over an iterator",
    "archiver": "(c) archiver crawl",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=10_000)
    parser.add_argument("--body", type=int, default=256, help="bytes of each body")
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
            with FastServer(body=options.body, delay=options.delay) as server:
                cost, lost = RUNS[name](server.base, options)
            costs[name].append(cost)
            errors[name] += lost
    show(costs, errors, options.urls)


def ancestor(name: str, base: str, options: argparse.Namespace) -> tuple[Cost, int]:
    """One run of a client that keeps nothing; what it took, and how many errors there were."""
    pool = options.concurrency if options.delay else options.pool
    many = options.concurrency if name == "gather" else pool
    cost = measure(["-m", "benchmarks.ancestors", name, base, str(options.urls), str(many)])
    return cost, int(cost.output)


def archiver(base: str, options: argparse.Namespace) -> tuple[Cost, int]:
    """One run of our crawl; what it took, and how many URLs were not saved."""
    with tempfile.TemporaryDirectory() as directory:
        environment = os.environ | crawl_settings(Path(directory) / "data", options.concurrency)
        if options.processes:
            environment["ARCHIVER_CRAWL_PROCESSES"] = str(options.processes)
        listing = Path(directory) / "urls.txt"
        listing.write_text("".join(f"{base}/{n}\n" for n in range(options.urls)))
        measure(["-m", "archiver", "import", str(listing), "--no-crawl"], environment)
        cost = measure(["-m", "archiver", "crawl"], environment)
    told = dict(line.split("\t") for line in cost.output.splitlines())
    return cost, options.urls - int(told["saved"])


def crawl_settings(data: Path, concurrency: int) -> dict[str, str]:
    """What lets a crawl ask one host on loopback as fast as it can."""
    return {
        "ARCHIVER_DATA": str(data),
        "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
        "ARCHIVER_CONCURRENCY": str(concurrency),
        "ARCHIVER_HOST_CONCURRENCY": str(concurrency),
        "ARCHIVER_HOST_DELAY": "0",
    }


RUNS = {
    "gather": lambda base, options: ancestor("gather", base, options),
    "pool": lambda base, options: ancestor("pool", base, options),
    "archiver": archiver,
}


def show(costs: dict[str, list[Cost]], errors: dict[str, int], urls: int) -> None:
    """Print the table and the ratios."""
    print(f"{'':28}{'URLs/s':>9}{'CPU s/1,000':>13}{'peak MB':>9}{'errors':>8}")
    rates = {}
    for name, found in costs.items():
        rates[name] = statistics.median(urls / each.seconds for each in found)
        cpu = statistics.median(1000 * each.cpu / urls for each in found)
        memory = max(each.memory for each in found) / 1e6
        row = f"{rates[name]:>9,.0f}{cpu:>13.3f}{memory:>9.0f}{errors[name]:>8}"
        print(f"{LABELS[name]:28}{row}")
    for other, letter in (("gather", "a"), ("pool", "b")):
        if "archiver" in rates and other in rates:
            print(f"(c)/({letter}) = {rates['archiver'] / rates[other]:.2f}")


if __name__ == "__main__":
    main()
