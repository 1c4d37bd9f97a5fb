"""Archives the same pages with this program, wget, and a simple pipeline, in turn.

Usage: python -m benchmarks.side_by_side [FOLDER] [--copies N] [--runs N] [--load N] [--delay S]

Pages are those of FOLDER (``NAME/source.html``) or generated; each copy has different resources,
all on a loopback server. ``wget`` runs with ``--page-requisites --warc-file``. The simple pipeline
(``benchmarks/plain.py``: Beautiful Soup, readability, a file per page) uses one core and fetches no
resources; pages its libraries cannot parse are counted and skipped. Seconds include starting the
command; "later" defers articles, and "2" is the number of processes. ``--load N`` runs N busy
processes in addition. ``--delay S`` delays each response by up to S seconds, as a network does.
"""

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import archiver as archiver_package
from benchmarks.crawl import crawl_settings
from benchmarks.measure import Cost, measure
from benchmarks.pages import PageServer, generated_pages, read_pages

SOME_MISSING = 8
"""wget's exit status if a server responded with an error."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--copies", type=int, default=4, help="how often each page is there")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--only", default=",".join(RUNS))
    parser.add_argument("--load", type=int, default=0, help="processes that keep a core busy each")
    parser.add_argument(
        "--delay", type=float, default=0.0, help="maximum seconds before each response"
    )
    options = parser.parse_args()
    pages = read_pages(options.folder) if options.folder else generated_pages(64)
    compileall.compile_dir(archiver_package.__path__[0], quiet=2)  # for the first run
    costs: dict[str, list[Cost]] = {name: [] for name in options.only.split(",")}
    with PageServer(pages, delay=options.delay) as server, busy(options.load):
        urls = [server.url(n) for n in range(options.copies * len(pages))]
        for _ in range(options.runs):
            for name, cost in costs.items():
                with tempfile.TemporaryDirectory() as directory:
                    listing = Path(directory) / "urls.txt"
                    listing.write_text("".join(f"{url}\n" for url in urls))
                    cost.append(RUNS[name](listing, Path(directory), options))
    show(costs, len(urls))


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep the machine busy with counting processes until the block ends."""
    count = f"import os\nwhile os.getppid() == {os.getpid()}: sum(range(10_000))"
    command = [sys.executable, "-c", count]
    counting = [subprocess.Popen(command) for _ in range(processes)]
    try:
        yield
    finally:
        for each in counting:
            each.kill()
            each.wait()


def archiver(articles: str, processes: int) -> Callable[..., Cost]:
    """Return a run of our crawl with a queue of the pages."""

    def run(listing: Path, directory: Path, options: argparse.Namespace) -> Cost:
        environment = os.environ | crawl_settings(directory / "data", options.concurrency)
        environment["ARCHIVER_ARTICLES"] = articles
        environment["ARCHIVER_CRAWL_PROCESSES"] = str(processes)
        environment["ARCHIVER_LOG_LEVEL"] = "error"
        measure(["-m", "archiver", "import", str(listing), "--no-crawl"], environment)
        cost = measure(["-m", "archiver", "crawl"], environment)
        if "failed\t0\n" not in cost.output:
            raise SystemExit(f"pages were lost: {cost.output}")
        return cost

    return run


def wget(listing: Path, directory: Path, _: argparse.Namespace) -> Cost:
    """Run GNU Wget with a WARC file."""
    arguments = f"-q -e robots=off -p --warc-file={directory}/out -P {directory}/files -i {listing}"
    return measure(arguments.split(), program="wget", accept=(0, SOME_MISSING))


def plain(parser: str) -> Callable[..., Cost]:
    """Return a run of the simple pipeline with one of Beautiful Soup's parsers."""

    def run(listing: Path, directory: Path, _: argparse.Namespace) -> Cost:
        folder = str(directory / "articles")
        cost = measure(["-m", "benchmarks.plain", str(listing), folder, parser])
        if lost := int(cost.output.split()[-1]):
            print(f"the plain pipeline with {parser} lost {lost} pages", file=sys.stderr)
        return cost

    return run


RUNS: dict[str, Callable[..., Cost]] = {
    "archiver-later": archiver("later", 1),
    "archiver-later-2": archiver("later", 2),
    "archiver": archiver("now", 1),
    "wget": wget,
    "plain": plain("lxml"),
    "plain-html.parser": plain("html.parser"),
}


def show(costs: dict[str, list[Cost]], pages: int) -> None:
    """Print the table and the ratios."""
    print(f"{'':20}{'pages/s':>9}{'CPU ms/page':>13}{'peak MB':>9}")
    rates = {}
    for name, cost in costs.items():
        rates[name] = statistics.median(pages / each.seconds for each in cost)
        cpu = statistics.median(1000 * each.cpu / pages for each in cost)
        memory = max(each.memory for each in cost) / 1e6
        print(f"{name:20}{rates[name]:>9.1f}{cpu:>13.1f}{memory:>9.0f}")
    for name, rate in rates.items():
        for other in ("wget", "plain", "plain-html.parser"):
            if name.startswith("archiver") and other in rates:
                print(f"{name} / {other} = {rate / rates[other]:.2f}")


if __name__ == "__main__":
    main()
