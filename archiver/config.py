"""Settings.

``read`` raises ``ValueError`` with what to give instead, as a clause.

Each field is the flag ``--name-with-dashes`` and the variable ``ARCHIVER_NAME_WITH_UNDERSCORES``.
A ``Settings`` is a value that is passed; nothing reads the environment after it is built.
"""

import dataclasses
import gc
import os
import re
import resource
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from ipaddress import IPv4Network, IPv6Network, ip_network
from math import ceil, isfinite
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit

from archiver import __version__
from archiver.logs import get_log
from archiver.model.language import TAGS

TIMEGATES = {
    "wayback": "https://web.archive.org/web/",
    "archive.today": "https://archive.ph/timegate/",
    "arquivo.pt": "https://arquivo.pt/wayback/",
    "aggregator": "https://timetravel.mementoweb.org/timegate/",
}
"""Where public archives are asked, by the names that people know them by (RFC 7089)."""
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?")
_YES = frozenset({"1", "true", "yes", "on", "y", "t"})
_NO = frozenset({"0", "false", "no", "off", "n", "f"})


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value.

    Attributes:
        metavar: what stands for a value in help; empty for a switch.
        read: gives the value of a text, or of the value itself.
        dump: gives what JSON can hold of a value, and ``read`` understands.
    """

    metavar: str
    read: Callable[[Any], Any]
    dump: Callable[[Any], Any] = _as_it_is

    @property
    def is_list(self) -> bool:
        """Whether a flag can be repeated."""
        return self.metavar == "LIST"


def text(*, may_be_empty: bool = True) -> Kind:
    """Any text, or None where that is the default."""

    def read(value: str | None) -> str | None:
        if value == "" and not may_be_empty:
            raise ValueError("should not be empty")
        return value

    return Kind("TEXT", read)


def path() -> Kind:
    """A directory."""
    return Kind("DIR", Path, str)


def switch() -> Kind:
    """Yes or no."""

    def read(value: bool | str) -> bool:
        known = str(value).lower()
        if known not in _YES | _NO:
            raise ValueError("should be true or false")
        return known in _YES

    return Kind("", read)


def choice(*values: str) -> Kind:
    """One of some words."""

    def read(value: str) -> str:
        if value not in values:
            raise ValueError(f"should be one of {', '.join(values)}")
        return value

    return Kind("CHOICE", read)


def integer(*, least: int = 0, most: int | None = None) -> Kind:
    """A whole number."""

    def read(value: int | str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError("should be a whole number") from None
        _check(number, least=least, most=most)
        return number

    return Kind("INTEGER", read)


def decimal(
    *, least: float | None = None, above: float | None = None, most: float | None = None
) -> Kind:
    """A number, whole or not."""

    def read(value: float | str) -> float:
        try:
            number = float(value)
        except ValueError:
            raise ValueError("should be a number") from None
        if not isfinite(number):
            raise ValueError("should be a number")
        if above is not None and number <= above:
            raise ValueError(f"should be more than {above:g}")
        _check(number, least=least, most=most)
        return number

    return Kind("NUMBER", read)


def words() -> Kind:
    """Words separated by commas or spaces."""
    return Kind("LIST", _words, list)


def timegates() -> Kind:
    """TimeGates, by their names or as what stands before the address that they are asked for."""
    return Kind("LIST", lambda value: tuple(map(_timegate, _words(value))), list)


def bucket() -> Kind:
    """A bucket of an S3-compatible store, with or without a prefix in it; or None."""

    def read(value: str | None) -> str | None:
        if not value:
            return None
        if not _BUCKET.fullmatch(value):
            raise ValueError("should be s3://bucket or s3://bucket/prefix")
        return value.rstrip("/")

    return Kind("TEXT", read)


def server_address() -> Kind:
    """A database of a PostgreSQL server, without a password; or None."""

    def read(value: str | None) -> str | None:
        if not value:
            return None
        parts = urlsplit(value)
        if parts.password is not None:
            raise ValueError("should hold no password: that is read from PGPASSWORD, or ~/.pgpass")
        named = parts.username and parts.path.strip("/") and "/" not in parts.path[1:]
        if parts.scheme not in ("postgresql", "postgres") or not named or parts.fragment:
            raise ValueError("should be postgresql://user@host/database")
        return value.replace("postgres:", "postgresql:", 1)

    return Kind("TEXT", read)


def networks() -> Kind:
    """IP networks; an address within one names it too: ``192.168.1.5/24``."""

    def read(value: Any) -> tuple[Any, ...]:
        return tuple(ip_network(each, strict=False) for each in _words(value))

    return Kind("LIST", read, lambda value: [str(each) for each in value])


def origin() -> Kind:
    """An origin: a scheme, a host and perhaps a port, and nothing behind it; or None."""

    def read(value: str | None) -> str | None:
        if not value:
            return None
        parts = urlsplit(value.rstrip("/").lower())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("should be an origin, such as https://replay.example.org")
        if parts.path or parts.query or parts.username:
            raise ValueError("should end with its host or port")
        return f"{parts.scheme}://{parts.netloc}"

    return Kind("TEXT", read)


def _timegate(word: str) -> str:
    address = TIMEGATES.get(word.lower(), word)
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"should be of {', '.join(TIMEGATES)}, or addresses of TimeGates")
    return address


def _words(value: Any) -> tuple[Any, ...]:
    parts = (value,) if isinstance(value, str) else value
    return tuple(
        word
        for part in parts
        for word in (part.replace(",", " ").split() if isinstance(part, str) else (part,))
    )


def _check(number: float, *, least: float | None, most: float | None) -> None:
    if least is not None and number < least:
        raise ValueError(f"should be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"should be at most {most}")


Network = IPv4Network | IPv6Network


TRACKERS = (
    *("utm_*", "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid"),
    *("ttclid", "igshid", "igsh", "mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "vero_id"),
    *("oly_anon_id", "oly_enc_id", "wickedid", "srsltid", "li_fat_id", "_openstat", "ref_src"),
)
LONGEST_HOST_DELAY = 3600
"""Seconds; each of several crawling processes waits as many times longer as there are."""


class InvalidSettings(ValueError):
    """Values that can't be used.

    Attributes:
        reasons: a sentence about each, by the name of the setting.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(" ".join(f"{name}: {reason}." for name, reason in reasons.items()))
        self.reasons = reasons


def _setting(default: object, kind: Kind, description: str, *, is_secret: bool = False) -> Any:
    metadata = {"kind": kind, "description": description}
    return field(default=default, repr=not is_secret, kw_only=True, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Settings:
    """How one process of the archive behaves.

    Each field takes its value or the text of it, as a flag or a variable holds it.

    Raises:
        InvalidSettings: values that can't be used.
    """

    data: Path = _setting(Path("data"), path(), "Directory of the archive.")
    index: str | None = _setting(
        None,
        server_address(),
        "Where the index lies, such as postgresql://user@host/database; else in a file.",
    )
    store: str | None = _setting(
        None,
        bucket(),
        "Where WARC segments go once they are closed, such as s3://bucket/prefix; else they stay.",
    )

    host: str = _setting("127.0.0.1", text(), "Address to listen on.")
    port: int = _setting(
        8080, integer(least=0, most=65535), "Port to listen on; 0 takes a free one."
    )
    password: str | None = _setting(
        None,
        text(),
        "Password of the web service; needed to listen beyond loopback.",
        is_secret=True,
    )
    allow_hosts: tuple[str, ...] = _setting(
        (), words(), "Host names the service answers to, besides addresses and localhost."
    )
    replay_origin: str | None = _setting(
        None, origin(), "Second origin that shows archived pages, such as http://127.0.0.1:8081."
    )
    language: Literal["en", "de", "fr", "es", "zh-Hans"] = _setting(
        "en",
        choice(*TAGS),
        f"Language of pages, where neither the person nor the browser says: {', '.join(TAGS)}.",
    )
    max_upload_bytes: int = _setting(
        1 << 30, integer(least=1), "Largest bookmark file taken by the web page, in bytes."
    )

    allow_networks: tuple[Network, ...] = _setting(
        (), networks(), "Non-public networks that may be captured, such as 192.168.1.0/24."
    )
    user_agent: str = _setting(
        f"Mozilla/5.0 (compatible; archiver/{__version__}; personal web archive)",
        text(may_be_empty=False),
        "User-Agent sent with every request.",
    )
    concurrency: int = _setting(32, integer(least=1, most=4096), "Pages captured at the same time.")
    host_concurrency: int = _setting(
        4, integer(least=1, most=4096), "Requests under way at the same host at the same time."
    )
    host_delay: float = _setting(
        0.2,
        decimal(least=0, most=LONGEST_HOST_DELAY),
        "Least seconds between two requests to the same host.",
    )
    crawl_processes: int = _setting(
        1,
        integer(least=1, most=64),
        "Processes that fetch pages; they share what a host may be asked for.",
    )
    connect_timeout: float = _setting(10, decimal(above=0), "Seconds to wait for a connection.")
    read_timeout: float = _setting(30, decimal(above=0), "Seconds to wait for the next bytes.")
    fetch_timeout: float = _setting(300, decimal(above=0), "Seconds one response may take in all.")
    page_timeout: float = _setting(
        900, decimal(above=0), "Seconds a page and its requisites may take in all."
    )
    max_body_bytes: int = _setting(100 << 20, integer(least=1), "Largest response kept, in bytes.")
    max_decoded_bytes: int = _setting(
        200 << 20, integer(least=1), "Most bytes one response may decompress to."
    )
    max_redirects: int = _setting(10, integer(least=0, most=100), "Redirects followed for one URL.")
    max_requisites: int = _setting(500, integer(least=0), "Requisites fetched for one page.")
    requisite_max_age: float = _setting(
        86400, decimal(least=0), "Seconds for which a requisite fetched earlier is taken as it is."
    )
    retries: int = _setting(2, integer(least=0, most=20), "Further attempts where they can help.")
    retry_delay: float = _setting(
        5, decimal(least=0), "Seconds before the first further attempt; six times more each time."
    )
    max_retry_after: float = _setting(
        3600, decimal(least=0), "Longest Retry-After that is waited for, in seconds."
    )

    render: Literal["auto", "always", "never"] = _setting(
        "auto",
        choice("auto", "always", "never"),
        "Which pages a browser shows before they are kept: auto, those that need one; always; "
        "or never.",
    )
    browser: str | None = _setting(
        None, text(), "The Chromium to use, by name or path; else the one on PATH."
    )
    browser_pages: int = _setting(
        2, integer(least=1, most=64), "Pages shown by the browser at the same time."
    )
    browser_memory_bytes: int = _setting(
        1536 << 20,
        integer(least=1 << 28),
        "Memory the browser may take, in bytes.",
    )
    browser_sandbox: bool = _setting(
        True,
        switch(),
        "Chromium's sandbox. NEVER TURN IT OFF, unless the container around it is one.",
    )

    rescue: tuple[str, ...] = _setting(
        (),
        timegates(),
        "Public archives that may be asked for pages that are gone: wayback, archive.today, "
        "arquivo.pt, aggregator, or addresses of TimeGates.",
    )

    trackers: tuple[str, ...] = _setting(
        TRACKERS,
        words(),
        "Parameters of addresses that the web page offers to drop; * stands for anything.",
    )

    segment_bytes: int = _setting(
        512 << 20, integer(least=1), "A WARC segment is closed once it is this large, in bytes."
    )
    seal_bytes: int = _setting(
        64 << 20,
        integer(least=1, most=1 << 30),
        "With a store: a segment is closed, to be uploaded, once it is this large, in bytes.",
    )
    seal_seconds: float = _setting(
        60, decimal(least=1), "With a store: a segment is closed once it is this old, in seconds."
    )
    backlog_bytes: int = _setting(
        4 << 30,
        integer(least=1),
        "With a store: fetching pauses while more than that waits to be uploaded, in bytes.",
    )
    uploaded_bytes: int = _setting(
        1 << 30,
        integer(least=0),
        "With a store: so much of what it has is kept on this machine too, in bytes.",
    )
    feed_interval: float = _setting(
        3600, decimal(least=60), "Seconds between two looks of `serve` at a feed that is followed."
    )
    quiet_hour: int = _setting(
        4,
        integer(least=-1, most=23),
        "Hour of the day, by the machine's clock, at which `serve` compacts; -1 for never.",
    )
    articles: Literal["now", "later"] = _setting(
        "now",
        choice("now", "later"),
        "When articles are read: now, as pages come, or later: by `archiver extract`, "
        "and by `serve` once nothing is left to fetch.",
    )
    extract_processes: int = _setting(
        0,
        integer(least=0, most=64),
        "Processes that read articles; 0 for as many as the machine has cores (`serve`: to spare), "
        "up to three.",
    )
    extract_timeout: float = _setting(30, decimal(above=0), "Seconds reading one article may take.")
    extract_memory_bytes: int = _setting(
        1 << 30, integer(least=1 << 28), "Address space of a process that reads articles, in bytes."
    )

    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info",
        choice("debug", "info", "warning", "error"),
        "Least to be logged: debug, info, warning or error.",
    )
    log_json: bool = _setting(False, switch(), "Log as JSON lines.")

    def __post_init__(self) -> None:
        """Read each value as what it is to be."""
        reasons = {}
        for each in dataclasses.fields(self):
            try:
                value = each.metadata["kind"].read(getattr(self, each.name))
            except ValueError as error:
                reasons[each.name] = str(error)
            else:
                object.__setattr__(self, each.name, value)
        if reasons:
            raise InvalidSettings(reasons)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a setting, for flags and docs."""

    name: str
    default: Any
    kind: Kind
    description: str


SETTINGS = {
    each.name: Setting(each.name, each.default, each.metadata["kind"], each.metadata["description"])
    for each in dataclasses.fields(Settings)
}
"""Every setting by its name."""


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"ARCHIVER_{name.upper()}"


def read_settings(given: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Settings as given, else as their variables say, else by default.

    Raises:
        InvalidSettings: values that can't be used.
    """
    values: dict[str, Any] = {
        name: environment[key] for name in SETTINGS if (key := variable(name)) in environment
    }
    settings = Settings(**(values | {**given}))
    if settings.host_delay * settings.crawl_processes > LONGEST_HOST_DELAY:
        reason = f"times crawl_processes should be at most {LONGEST_HOST_DELAY}"
        raise InvalidSettings({"host_delay": reason})
    if settings.store and settings.backlog_bytes < settings.seal_bytes:
        raise InvalidSettings({"backlog_bytes": "should be no less than seal_bytes"})
    return settings


def dump_settings(settings: Settings) -> dict[str, object]:
    """What another process is to be given to behave so: plain values, without the password."""
    return {
        name: setting.kind.dump(getattr(settings, name))
        for name, setting in SETTINGS.items()
        if name != "password"
    }


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


def tune_memory() -> None:
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
