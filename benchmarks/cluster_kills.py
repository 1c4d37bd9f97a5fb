"""Four machines crawl one list into PostgreSQL and an object store, and die eight times meanwhile.

Usage: python -m benchmarks.cluster_kills [--urls N] [--seeds 1,2,3] [--machines N]

Each machine is a process with a data directory of its own, started again whenever it ended. With
each seed there are, in an order by chance: six kills by SIGKILL, in the middle of appending to a
segment, at its sync, at a commit of captures, at a PUT, at the mark that it is uploaded and at the
deletion of the copy here; a SIGSTOP until the others have taken the machine for dead, then SIGCONT;
and PostgreSQL stopped at once, to be started again a while later. In the end each URL must have
one snapshot and one capture in the index, ``verify`` must find nothing wrong in a directory that
was empty, and by the log of the web that was crawled no URL was asked for again but for a kill,
and every host was spared: no request came nearer to the one before than it may, by when the system
of that web had the two of them, however late it read them.
"""

import argparse
import random
import tempfile
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from benchmarks.capture import run
from benchmarks.crawl import write_urls
from benchmarks.killed_cluster import DELAY, MOST, Cluster, Kill
from benchmarks.own_postgres import OwnPostgres
from benchmarks.witness import Fetch, Witness, busiest, gaps
from tests.cluster.s3_servers import s3_server

HOSTS = 600
ANSWER_SECONDS = 3.0
WINDOW = 15.0
"""What was fetched so long before a kill may have been written nowhere."""
SECOND = 1_000_000_000
"""What is compared with each other is in nanoseconds: when the system had each request."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=20_000)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--machines", type=int, default=4)
    options = parser.parse_args()
    print("seed  minutes    URLs  kills  twice   window   least gap  too near  at once  faults")
    faults: list[str] = []
    for seed in map(int, options.seeds.split(",")):
        found = seeded(seed, options)
        faults += [f"seed {seed}: {each}" for each in found]
    for each in faults:
        print(each)
    if faults:
        raise SystemExit(1)


def seeded(seed: int, options: argparse.Namespace) -> list[str]:
    """One run; what was wrong."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "s3").mkdir()
        with (
            Witness(folder / "log", body=500, delay=ANSWER_SECONDS, hosts=HOSTS) as pages,
            OwnPostgres() as server,
            s3_server(folder / "s3") as store,
        ):
            cluster = Cluster(folder, server, store, pages, options.machines)
            begun = time.monotonic()
            listing = write_urls(folder, pages, options.urls)
            run(["import", str(listing), "--no-crawl"], cluster.machines[0].environment)
            try:
                cluster.crawl(random.Random(seed), options.urls)
            finally:
                cluster.end()
            minutes = (time.monotonic() - begun) / 60
            found = [*cluster.faults, *cluster.last_look(options.urls)]
            fetches = pages.fetches()
    again, wrong = fetched_again(fetches, cluster.kills)
    found += wrong + spared(fetches)
    least, near = min(gaps(fetches)), sum(gap < DELAY * SECOND for gap in gaps(fetches))
    print(
        f"{seed:>4}{minutes:>9.1f}{options.urls:>8}{len(cluster.kills):>7}{len(again):>7}"
        f"{max(again, default=0):>7.1f}s{least / SECOND:>10.4f}s{near:>10}"
        f"{busiest(fetches):>9}{len(found):>8}",
        flush=True,
    )
    return found


def fetched_again(fetches: list[Fetch], kills: list[Kill]) -> tuple[list[float], list[str]]:
    """How long before a kill that was which had to be fetched again, and what was so for none."""
    asked = defaultdict(list)
    for each in fetches:
        asked[each.path].append(each)
    windows, wrong = [], []
    for path, found in asked.items():
        excused: Counter[Kill] = Counter()
        for before, after in pairwise(found):
            machine = int(before.agent.partition(".")[0])
            kill = next(
                (
                    each
                    for each in kills
                    if each.machine in (machine, None)
                    and before.begun <= each.ended
                    and each.begun <= after.begun
                    and each.begun - before.begun <= WINDOW * SECOND
                ),
                None,
            )
            if kill is None or excused[kill]:
                later = (after.begun - before.begun) / SECOND
                wrong.append(
                    f"{path} was fetched by {before.agent} and, {later:.1f} s later, by "
                    f"{after.agent} without a kill"
                )
            else:
                windows.append(max(kill.begun - before.begun, 0) / SECOND)
                excused[kill] += 1
    return windows, wrong


def spared(fetches: list[Fetch]) -> list[str]:
    """What hosts were asked for that they should not have been."""
    faults = []
    if (least := min(gaps(fetches))) < DELAY * SECOND:
        faults.append(f"a host was asked again after {least / SECOND:.6f} s")
    if (most := busiest(fetches)) > MOST:
        faults.append(f"a host had {most} requests at once")
    return faults


if __name__ == "__main__":
    main()
