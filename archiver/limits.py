"""What the machine allows, and what one process takes of it."""

import gc
import os
import resource
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from math import ceil
from pathlib import Path, PurePosixPath

from archiver.config import Settings
from archiver.logs import get_log

GC_THRESHOLDS = (200_000, 20, 50)
"""With Python's default of 700 new objects, cyclic garbage collection takes a fifth of a crawl."""
MOST_READERS = 3
"""One process that fetches keeps no more busy with reading."""
READER_BYTES = 512 << 20
"""Memory for each process that reads: it takes a sixth of that, and more for a large page."""
FILES_A_PAGE = 8
"""Open files that one page under way may need: connections, a spooled body, a segment."""
SPARE_FILES = 128
M_TRIM_THRESHOLD, M_TOP_PAD, M_ARENA_MAX = -1, -2, -8
"""As malloc.h of the GNU C library numbers them; others have no ``mallopt``."""
TRIM_BYTES = 8 << 20
PAD_BYTES = 1 << 20
"""With the 128 kB of the C library the end of the heap was given back and asked for again five
times a URL: a tenth of a crawl's CPU went into pages that the kernel cleared anew."""

CGROUPS = Path("/sys/fs/cgroup")
"""Where the kernel says what a container, or a service of systemd, may take."""

log = get_log(__name__)


def share_among_processes(
    settings: Settings,
    *,
    hosts_are_shared: bool = False,
    leaves_a_core: bool = True,
    cgroups: Path = CGROUPS,
) -> Settings:
    """What one of several crawling processes may do, so that all of them keep to the settings.

    Args:
        settings: what all may do together.
        hosts_are_shared: whether what hosts may be asked for is divided otherwise, as among
            machines.
        leaves_a_core: whether those that read leave a core to each process that fetches, as where
            people wait for pages of ours; else they take turns with it.
        cgroups: where it is said what this process may take of the machine.
    """
    processes = settings.crawl_processes
    if not settings.extract_processes:
        readers = _readers(processes, cgroups, leaves_a_core=leaves_a_core)
        settings = replace(settings, extract_processes=processes * readers)
    if processes == 1:
        return settings
    each = 1 if hosts_are_shared else processes
    return replace(
        settings,
        concurrency=max(settings.concurrency // processes, 1),
        host_concurrency=max(settings.host_concurrency // each, 1),
        host_delay=settings.host_delay * each,
        extract_processes=max(settings.extract_processes // processes, 1),
    )


def _readers(processes: int, cgroups: Path, *, leaves_a_core: bool) -> int:
    """How many processes may read for each of those that fetch."""
    cores = min([len(os.sched_getaffinity(0)), *_cores_allowed(cgroups)])
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    memory = min([memory, *_memory_allowed(cgroups)])
    spare_cores = cores - processes if leaves_a_core else cores
    spare = min(spare_cores // processes, memory // READER_BYTES // processes)
    return min(max(spare, 1), MOST_READERS)


def _cores_allowed(cgroups: Path) -> Iterator[int]:
    """By ``cpu.max``: microseconds of a period, and the period; of a part of a core all."""
    for quota, period in _read_limits(cgroups, "cpu.max"):
        yield max(ceil(quota / period), 1)


def _memory_allowed(cgroups: Path) -> Iterator[int]:
    """By ``memory.max``, in bytes; the first version of cgroups has another name for it."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        yield from (each[0] for each in _read_limits(cgroups, name))


def _read_limits(cgroups: Path, name: str) -> Iterator[list[int]]:
    """The numbers of a file of this process's group and of each above it, where they limit it.

    See the kernel's Documentation/admin-guide/cgroup-v2.rst: ``max`` is no limit.
    """
    for group in _groups():
        try:
            yield [int(each) for each in (cgroups / group / name).read_text().split()]
        except (OSError, ValueError):
            continue


def _groups() -> Iterator[PurePosixPath]:
    """This process's group and those above; in a container it is the root, as seen from within."""
    yield PurePosixPath()
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        if line.startswith("0::/"):
            own = PurePosixPath(line.removeprefix("0::/"))
            yield from (own, *own.parents)


def fit_to_open_files(settings: Settings, connections: int = 0) -> Settings:
    """Raise the limit of open files as far as we may, and keep concurrency beneath it.

    Args:
        settings: what is wanted.
        connections: open files to be left to those who are served.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = SPARE_FILES + connections
    wanted = settings.concurrency * FILES_A_PAGE + spare
    if soft < wanted:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit), hard))
        soft = max(soft, limit)
    fits = max((soft - spare) // FILES_A_PAGE, 1)
    if settings.concurrency <= fits:
        return settings
    log.warning("concurrency lowered to fit the open-file limit", concurrency=fits, files=soft)
    return replace(settings, concurrency=fits)


def save_memory() -> None:
    """Let Python look for garbage seldom, and the C library give back what was freed.

    A dozen threads have an arena each by default, and blocks of megabytes end up in them: a long
    crawl's memory would grow by a third, though it holds no more.
    """
    gc.set_threshold(*GC_THRESHOLDS)
    c_library = import_module("ctypes").CDLL(None)  # a short command does without
    mallopt = getattr(c_library, "mallopt", None)
    if mallopt:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_TRIM_THRESHOLD, TRIM_BYTES)
        mallopt(M_TOP_PAD, PAD_BYTES)
