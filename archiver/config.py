"""Settings.

Each setting is a field of ``Settings``. Its flag is ``--name-with-dashes``, and its environment
variable is ``ARCHIVER_NAME_WITH_UNDERSCORES``.

A ``Settings`` object is passed as an argument; the environment is read only while it is built.
``Kind.read`` raises ``ValueError`` with a ``Message`` that says which values are valid, such as
``must be a number``. In error messages, this text follows the name of the setting.
"""

import gc
import os
import re
import resource
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from enum import StrEnum
from importlib import import_module
from ipaddress import IPv4Network, IPv6Network, ip_network
from math import ceil
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

from archiver import __version__
from archiver.logs import get_log
from archiver.model.language import TAGS
from archiver.model.message import Message

Network = IPv4Network | IPv6Network
TIMEGATES = {
    "wayback": "https://web.archive.org/web/",
    "archive.today": "https://archive.ph/timegate/",
    "arquivo.pt": "https://arquivo.pt/wayback/",
    "aggregator": "https://timetravel.mementoweb.org/timegate/",
}
"""TimeGates of public archives (RFC 7089), by common name."""
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?")
_SIZE_UNITS = {
    "": 1,
    "kB": 1000,
    "KiB": 1 << 10,
    "MB": 1000**2,
    "MiB": 1 << 20,
    "GB": 1000**3,
    "GiB": 1 << 30,
    "TB": 1000**4,
    "TiB": 1 << 40,
}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,3})?) ?([kmgt]i?b)?", re.IGNORECASE)
_TIME_UNITS = {
    1: ("s", "sec", "second", "seconds"),
    60: ("min", "minute", "minutes"),
    3600: ("h", "hour", "hours"),
    86400: ("d", "day", "days"),
}
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?([a-z]{1,7})?")
_TRUE_WORDS = frozenset({"1", "true", "yes", "on", "y", "t"})
_FALSE_WORDS = frozenset({"0", "false", "no", "off", "n", "f"})


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


@dataclass(frozen=True, slots=True)
class Kind:
    """Type of a setting's value.

    Attributes:
        metavar: placeholder in help: empty for a switch, ``LIST`` for a flag that can be repeated.
        read: parses text, or validates a value.
        dump: converts a value to JSON that ``read`` accepts.
        show: converts a value to the text that people see, which ``read`` accepts.
        values: the valid values of a choice, or the values of a list that have names.
    """

    metavar: str
    read: Callable[[Any], Any]
    dump: Callable[[Any], Any] = lambda value: value
    show: Callable[[Any], str] = _text
    values: tuple[str, ...] = ()


def text(*, may_be_empty: bool = True) -> Kind:
    """Return a kind for any text; a default of None stays None."""

    def read(value: str | None) -> str | None:
        if value == "" and not may_be_empty:
            raise ValueError(Message("must not be empty"))
        return value

    return Kind("TEXT", read)


def _one_line(value: str) -> str:
    if not (isinstance(value, str) and 0 < len(value) <= 500 and value.isprintable()):
        raise ValueError(Message("must be one line of 1 to 500 characters"))
    return value


DIRECTORY = Kind("DIR", Path, str)


def _boolean(value: bool | str) -> bool:
    word = str(value).lower()
    if word not in _TRUE_WORDS | _FALSE_WORDS:
        raise ValueError(Message("must be true or false"))
    return word in _TRUE_WORDS


BOOLEAN = Kind("", _boolean)


def choice(*values: str) -> Kind:
    """Return a kind for one of ``values``."""

    def read(value: str) -> str:
        if value not in values:
            raise ValueError(Message("must be one of {values}", values=", ".join(values)))
        return value

    return Kind("CHOICE", read, values=values)


def integer(*, least: int = 0, most: int | None = None) -> Kind:
    """Return a kind for a whole number from ``least`` to ``most``."""

    def read(value: int | str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError(Message("must be a whole number")) from None
        _check(number, least=least, most=most)
        return number

    return Kind("INTEGER", read)


def duration(*, least: float = 0, above: float | None = None, most: float | None = None) -> Kind:
    """Return a kind for seconds, such as ``90``, ``15 min`` or ``1.5 hours``.

    Of the limits, only ``above`` is exclusive.
    """
    factors = {name: factor for factor, names in _TIME_UNITS.items() for name in names}

    def read(value: float | str) -> float:
        written = f"{value:f}" if isinstance(value, float) else str(value)
        match = _DURATION.fullmatch(written.strip().lower())
        if not match or (match[2] or "s") not in factors:
            raise ValueError(Message("must be a time, such as 30 s, 15 min or 2 h"))
        seconds = float(match[1]) * factors[match[2] or "s"]
        if above is not None and seconds <= above:
            raise ValueError(Message("must be more than {number}", number=show_duration(above)))
        _check(seconds, least=least, most=most, show=show_duration)
        return seconds

    return Kind("TIME", read, show=show_duration)


def days(*, most: int) -> Kind:
    """Return a kind for whole days, such as ``30``, ``30 d`` or ``30 days``."""

    def read(value: int | str) -> int:
        seconds = duration().read(f"{value} d" if str(value).isdecimal() else value)
        if seconds % 86400:
            raise ValueError(Message("must be whole days, such as 30 d"))
        _check(seconds // 86400, least=0, most=most)
        return int(seconds // 86400)

    return Kind("TIME", read, show="{} d".format)


def show_duration(seconds: float) -> str:
    """Return seconds in the largest unit that divides them, such as ``15 min``."""
    factor = max(each for each in _TIME_UNITS if each == 1 or (seconds and seconds % each == 0))
    return f"{seconds / factor:.12g} {_TIME_UNITS[factor][0]}"


def size(*, least: int, most: int | None = None) -> Kind:
    """Return a kind for a number of bytes, such as ``104857600``, ``100 MiB`` or ``1.5 GB``."""
    factors = {unit.lower(): factor for unit, factor in _SIZE_UNITS.items()}

    def read(value: int | str) -> int:
        match = _SIZE.fullmatch(str(value).strip())
        if not match:
            raise ValueError(Message("must be a size, such as 100 MB"))
        number = round(float(match[1]) * factors[(match[2] or "").lower()])
        _check(number, least=least, most=most)
        return number

    return Kind("SIZE", read, show=show_size)


def show_size(value: int) -> str:
    """Return an exact size in the largest unit that divides it, such as ``100 MiB``."""
    unit = max((f for f in _SIZE_UNITS.items() if value % f[1] == 0), key=lambda each: each[1])[0]
    return f"{value // _SIZE_UNITS[unit]} {unit}".rstrip() if value else "0"


def _words(value: Any) -> tuple[Any, ...]:
    parts = (value,) if isinstance(value, str) else value
    return tuple(
        word
        for part in parts
        for word in (part.replace(",", " ").split() if isinstance(part, str) else (part,))
    )


WORDS = Kind("LIST", _words, list)
"""Words separated by commas or spaces."""


def _timegate(word: str) -> str:
    address = TIMEGATES.get(word.lower(), word)
    if not _is_web(urlsplit(address)):
        raise ValueError(
            Message("must list {names} or URLs of TimeGates", names=", ".join(TIMEGATES))
        )
    return address


def _timegate_names(value: Any) -> list[str]:
    names = {url: name for name, url in TIMEGATES.items()}
    return [names.get(each, each) for each in value]


def _networks(value: Any) -> tuple[Network, ...]:
    """Read IP networks; ``192.168.1.5/24`` means ``192.168.1.0/24``."""
    try:
        return tuple(ip_network(each, strict=False) for each in _words(value))
    except ValueError:
        raise ValueError(Message("must be networks, such as 192.168.1.0/24")) from None


def _optional(read: Callable[[str], str]) -> Kind:
    """Return a kind for text of a certain form; an empty value becomes None."""
    return Kind("TEXT", lambda value: read(value) if value else None)


def _bucket(value: str) -> str:
    if not _BUCKET.fullmatch(value):
        raise ValueError(Message("must be s3://bucket or s3://bucket/prefix"))
    return value.rstrip("/")


def _server_address(value: str) -> str:
    """Read a PostgreSQL URL without a password."""
    parts = urlsplit(value)
    if parts.password is not None:
        raise ValueError(
            Message("must not contain a password. Put it into PGPASSWORD or ~/.pgpass")
        )
    named = parts.username and parts.path.strip("/") and "/" not in parts.path[1:]
    if parts.scheme not in ("postgresql", "postgres") or not named or parts.fragment:
        raise ValueError(Message("must be postgresql://user@host/database"))
    if "," not in parts.netloc and parts.port == 0:  # ``port`` raises ValueError above 65535
        raise ValueError(Message("must have a port from 1 to 65535"))
    return value.replace("postgres:", "postgresql:", 1)


def _origin(value: str) -> str:
    """Read an origin: scheme, host and optional port."""
    parts = urlsplit(value.rstrip("/").lower())
    if not _is_web(parts):
        raise ValueError(Message("must be an origin, such as https://replay.example.org"))
    if parts.path or parts.query or parts.username:
        raise ValueError(Message("must not have a path or anything else after the host and port"))
    return f"{parts.scheme}://{parts.netloc}"


def _web_address(value: str) -> str:
    if not _is_web(urlsplit(value)):
        raise ValueError(Message("must be a URL, such as https://ntfy.sh/my-archive"))
    return value


def _is_web(parts: SplitResult) -> bool:
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _check(
    number: float,
    *,
    least: float | None,
    most: float | None,
    show: Callable[[float], str] = str,
) -> None:
    if least is not None and number < least:
        raise ValueError(Message("must be at least {number}", number=show(least)))
    if most is not None and number > most:
        raise ValueError(Message("must be at most {number}", number=show(most)))


_PATH_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")


def _path_prefix(value: str) -> str:
    """Read a path without its final slash, or an empty one."""
    path = value.rstrip("/")
    if path and not _PATH_PREFIX.fullmatch(path):
        raise ValueError(
            Message("must be a path such as /archive, of letters, digits, - . _ ~ and /")
        )
    return path


TRACKERS = (
    *("utm_*", "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid"),
    *("ttclid", "igshid", "igsh", "mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "vero_id"),
    *("oly_anon_id", "oly_enc_id", "wickedid", "srsltid", "li_fat_id", "_openstat", "ref_src"),
)
MAX_REDIRECTS = 20
"""Maximum number of redirects followed for one URL, as in browsers."""
CONNECT_SECONDS = 10.0
MAX_RETRY_AFTER = 3600.0
"""Longest pause in seconds that a server can ask for (``Retry-After``)."""
MAX_HOST_DELAY = 3600
"""Maximum of ``host_delay`` times ``crawl_processes``, in seconds."""


class InvalidSettings(ValueError):
    """Invalid settings.

    Attributes:
        reasons: why each value is invalid, by the name of the setting.
    """

    def __init__(self, reasons: Mapping[str, Message | str]) -> None:
        super().__init__(" ".join(f"{name}: {reason}." for name, reason in reasons.items()))
        self.reasons = reasons


def invalid_reason(error: ValueError) -> Message | str:
    """Return why a value is invalid, as a message if it can be translated."""
    reason = error.args[0] if error.args else ""
    return reason if isinstance(reason, Message) else str(error)


def _read_values(kinds: Mapping[str, Kind], values: Mapping[str, Any]) -> dict[str, Any]:
    """Parse values by name.

    Raises:
        InvalidSettings: a value is invalid, or has an unknown name.
    """
    parsed: dict[str, Any] = {}
    reasons: dict[str, Message | str] = {}
    for name, value in values.items():
        if name not in kinds:
            reasons[name] = Message("is not a setting of a site")
            continue
        try:
            parsed[name] = kinds[name].read(value)
        except ValueError as error:
            reasons[name] = invalid_reason(error)
    if reasons:
        raise InvalidSettings(reasons)
    return parsed


@dataclass(frozen=True, slots=True)
class Setting:
    """Default, type and description of a setting, for flags and docs."""

    default: Any
    kind: Kind
    description: str


def _setting(default: object, kind: Kind, description: str, *, is_secret: bool = False) -> Any:
    setting = Setting(default, kind, description)
    return field(default=default, repr=not is_secret, metadata={"setting": setting})


class Source(StrEnum):
    """Origin of a setting's value. A later member overrides the earlier ones."""

    DEFAULT = "default"
    FILE = "settings.toml"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Configuration of one process of the archive.

    Each field accepts a value of its type, or the text of a flag or environment variable.

    Raises:
        InvalidSettings: a value is invalid.
    """

    data: Path = _setting(
        Path("data"),
        DIRECTORY,
        "Directory of the archive; default: ./data if it contains an archive, "
        "else ~/.local/share/archiver.",
    )
    index: str | None = _setting(
        None,
        _optional(_server_address),
        "Database of the index, such as postgresql://user@host/database; default: a file in data.",
    )
    store: str | None = _setting(
        None,
        _optional(_bucket),
        "Object store for closed WARC segments, such as s3://bucket/prefix; default: local.",
    )

    host: str = _setting("127.0.0.1", text(), "Address to listen on.")
    port: int = _setting(
        8080, integer(least=0, most=65535), "Port to listen on; 0 picks a free one."
    )
    password: str | None = _setting(
        None,
        text(),
        "Password of the web service; required unless the service listens on 127.0.0.1.",
        is_secret=True,
    )
    allow_hosts: tuple[str, ...] = _setting(
        (),
        WORDS,
        "Host names that the service accepts in addition to IP addresses and localhost.",
    )
    replay_origin: str | None = _setting(
        None,
        _optional(_origin),
        "Separate origin for archived pages, such as http://127.0.0.1:8081.",
    )
    base_path: str = _setting(
        "",
        Kind("PATH", _path_prefix),
        "Path under which a reverse proxy serves the archive, such as /archive. The proxy may "
        "remove it from requests or pass it on.",
    )
    language: Literal["en", "de", "fr", "es", "zh-Hans"] = _setting(
        "en",
        choice(*TAGS),
        f"Language of the web pages if neither user nor browser chooses one: {', '.join(TAGS)}.",
    )
    max_upload_bytes: int = _setting(1 << 30, size(least=1), "Largest file that can be uploaded.")

    allow_networks: tuple[Network, ...] = _setting(
        (),
        Kind("LIST", _networks, lambda value: [str(each) for each in value]),
        "Non-public networks that may be captured, such as 192.168.1.0/24.",
    )
    user_agent: str = _setting(
        f"Mozilla/5.0 (compatible; archiver/{__version__}; personal web archive)",
        text(may_be_empty=False),
        "User-Agent sent with every request.",
    )
    concurrency: int = _setting(64, integer(least=1, most=4096), "Pages captured at the same time.")
    host_concurrency: int = _setting(
        4, integer(least=1, most=4096), "Concurrent requests to the same host."
    )
    host_delay: float = _setting(
        0.2,
        duration(most=MAX_HOST_DELAY),
        "Minimum time between two requests to the same host.",
    )
    crawl_processes: int = _setting(
        1,
        integer(least=1, most=64),
        "Processes that fetch pages; they share the limits per host.",
    )
    fetch_timeout: float = _setting(300, duration(above=0), "Maximum time for one response.")
    page_timeout: float = _setting(
        900, duration(above=0), "Maximum time for a page with its requisites."
    )
    max_body_bytes: int = _setting(100 << 20, size(least=1), "Largest response stored.")
    max_requisites: int = _setting(
        500, integer(least=0), "Requisites (images, styles, fonts and others) fetched for one page."
    )
    requisite_max_age: float = _setting(
        86400,
        duration(),
        "Time for which a stored requisite is reused instead of fetched again.",
    )
    retries: int = _setting(2, integer(least=0, most=20), "Retries after a transient failure.")

    render: Literal["auto", "always", "never"] = _setting(
        "auto",
        choice("auto", "always", "never"),
        "Which pages are rendered in a browser: auto (those that need JavaScript), always, "
        "or never.",
    )
    browser: str | None = _setting(
        None, text(), "Chromium executable, by name or path; default: the one on PATH."
    )
    browser_pages: int = _setting(2, integer(least=1, most=64), "Pages rendered at the same time.")
    browser_memory_bytes: int = _setting(
        1536 << 20,
        size(least=1 << 28),
        "Memory limit of the browser.",
    )
    browser_sandbox: bool = _setting(
        True,
        BOOLEAN,
        "Use Chromium's sandbox. Turn it off only inside a container that isolates the browser.",
    )

    rescue: tuple[str, ...] = _setting(
        (),
        Kind(
            "LIST",
            lambda value: tuple(map(_timegate, _words(value))),
            _timegate_names,
            lambda value: _text(_timegate_names(value)),
            tuple(TIMEGATES),
        ),
        "Public archives to recover missing pages from: wayback, archive.today, "
        "arquivo.pt, aggregator, or TimeGate URLs.",
    )

    trackers: tuple[str, ...] = _setting(
        TRACKERS,
        WORDS,
        "Tracking parameters removed from URLs saved in the web interface; * matches anything.",
    )

    segment_bytes: int = _setting(
        512 << 20, size(least=1), "Size at which a WARC segment is closed."
    )
    seal_seconds: float = _setting(
        60,
        duration(least=1),
        "With a store: age at which a segment is closed and uploaded.",
    )
    backlog_bytes: int = _setting(
        4 << 30,
        size(least=1),
        "With a store: fetching pauses while more data than this waits to be uploaded.",
    )
    uploaded_bytes: int = _setting(
        1 << 30,
        size(least=0),
        "With a store: size of the local cache of uploaded segments.",
    )
    feed_interval: float = _setting(
        3600, duration(least=60), "Time between two checks of a followed feed by `serve`."
    )
    quiet_hour: int = _setting(
        4,
        integer(least=-1, most=23),
        "Hour of the day (local time) at which `serve` cleans up, like `archiver compact`; -1 for "
        "never.",
    )
    bin_days: int = _setting(
        30,
        days(most=36_500),
        "Time for which deleted entries can be restored; then `serve` erases them.",
    )
    notify_url: str | None = _setting(
        None,
        _optional(_web_address),
        "URL, such as an ntfy topic, to which `serve` posts a line of text when a problem begins "
        "or ends: a full or read-only disk, missing segments, problems found by `archiver verify`, "
        "failing uploads, an unreadable archive.",
        is_secret=True,
    )
    articles: Literal["now", "later"] = _setting(
        "now",
        choice("now", "later"),
        "When articles are extracted: now (during the crawl) or later (by `archiver extract`, "
        "or by `serve` when the queue is empty).",
    )
    extract_processes: int = _setting(
        0,
        integer(least=0, most=64),
        "Processes that extract articles; 0 for one per core (`serve`: per spare core), "
        "up to three.",
    )
    extract_timeout: float = _setting(30, duration(above=0), "Timeout for extracting one article.")
    extract_memory_bytes: int = _setting(
        1 << 30, size(least=1 << 28), "Memory limit of an extraction process."
    )

    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info",
        choice("debug", "info", "warning", "error"),
        "Minimum level to log: debug, info, warning or error.",
    )
    log_json: bool = _setting(False, BOOLEAN, "Log as JSON lines.")

    read_timeout: float = 30
    """Maximum time between bytes of a response. Only tests change this and the next two fields."""
    retry_delay: float = 5
    """Time before the first retry; each further one is multiplied by ``retry_policy.BACKOFF``."""
    max_decoded_bytes: int = 200 << 20
    """Maximum size of a decompressed response."""
    from_file: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """Names of the settings that ``settings.toml`` sets."""
    fixed: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)
    """Source of each setting that a flag or environment variable sets, by name."""

    def source(self, name: str) -> Source:
        """Return where the value of a setting comes from."""
        otherwise = Source.FILE if name in self.from_file else Source.DEFAULT
        return self.fixed.get(name, otherwise)

    def __post_init__(self) -> None:
        """Parse and validate each field."""
        kinds = {name: setting.kind for name, setting in SETTINGS.items()}
        parsed = _read_values(kinds, {name: getattr(self, name) for name in SETTINGS})
        for name, value in parsed.items():
            object.__setattr__(self, name, value)


SETTINGS: dict[str, Setting] = {
    each.name: each.metadata["setting"] for each in fields(Settings) if each.metadata
}
"""All settings by name."""
SETTINGS["data"] = replace(SETTINGS["data"], default=None)  # depends on the environment

INDEX = "archive.sqlite3"
"""SQLite file in the data directory."""
SEGMENTS = "warc"
"""Directory of the segments in the data directory."""
SETTINGS_FILE = "settings.toml"
"""File in the data directory with the settings that were changed in the web pages."""
SITES = "sites"
"""Table of the settings file with the rules of sites, by host."""
MAX_SITES = 1000
NEVER_IN_FILE = frozenset({"data", "index", "store", "password", "host", "port"})
"""Settings for the location of the archive and access to it; only flags and variables set them."""


def variable(name: str) -> str:
    """Return the name of a setting's environment variable."""
    return f"ARCHIVER_{name.upper()}"


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Map each unknown ``ARCHIVER_`` variable to the most similar known one, or to ""."""
    suggestions = {}
    for name in sorted(environment):
        setting_name = name.removeprefix("ARCHIVER_").lower()
        is_known = not name.startswith("ARCHIVER_") or name.startswith(_OF_TESTS)
        if not is_known and setting_name not in SETTINGS:
            similar = get_close_matches(setting_name, SETTINGS, 1)
            suggestions[name] = variable(similar[0]) if similar else ""
    return suggestions


_OF_TESTS = "ARCHIVER_TEST_"


@dataclass(frozen=True, slots=True)
class SiteRule:
    """Settings of a host and its subdomains; the general settings apply where a value is None.

    Attributes:
        render: which pages are rendered in a browser.
        delay: minimum seconds between two requests.
        user_agent: User-Agent sent with every request.
        never_save: whether nothing is requested from the site.
    """

    render: str | None = None
    delay: float | None = None
    user_agent: str | None = None
    never_save: bool = False


NO_RULE = SiteRule()

_RULE_KINDS = {
    "render": choice("auto", "always", "never"),
    "delay": duration(most=MAX_HOST_DELAY),
    "user_agent": Kind("TEXT", _one_line),
    "never_save": BOOLEAN,
}


def parse_site_rule(values: Mapping[str, Any]) -> SiteRule:
    """Build the rule of a site from values or texts.

    Raises:
        InvalidSettings: a value is invalid, or has an unknown name.
    """
    return SiteRule(**_read_values(_RULE_KINDS, values))


def parse_site_rules(table: object) -> dict[str, SiteRule]:
    """Return the rules of sites by host, given the table of sites in the settings file.

    Raises:
        InvalidSettings: the table or a rule is invalid.
    """
    if not isinstance(table, dict) or len(table) > MAX_SITES:
        raise InvalidSettings({SITES: f"should be a table of up to {MAX_SITES} hosts"})
    rules: dict[str, SiteRule] = {}
    reasons: dict[str, Message | str] = {}
    for host, rule in table.items():
        try:
            rules[str(host)] = parse_site_rule(rule if isinstance(rule, dict) else {"": rule})
        except InvalidSettings as error:
            reasons |= {f"{SITES}.{host}.{name}": why for name, why in error.reasons.items()}
    if reasons:
        raise InvalidSettings(reasons)
    return rules


def read_file(data: Path) -> dict[str, Any]:
    """Return the settings in a data directory's file, without the rules of sites.

    Raises:
        InvalidSettings: the file can't be parsed, or names a setting that it can't set.
    """
    try:
        values = tomllib.loads((data / SETTINGS_FILE).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise InvalidSettings({SETTINGS_FILE: f"can't be read: {error}"}) from error
    parse_site_rules(values.pop(SITES, {}))
    unknown = {
        name: f"is not a setting that {data / SETTINGS_FILE} can have"
        for name in values
        if name not in SETTINGS or name in NEVER_IN_FILE
    }
    if unknown:
        raise InvalidSettings(unknown)
    return values


def default_data(environment: Mapping[str, str]) -> Path:
    """Return the data directory that is used if no setting names one.

    It is ``data`` in the current directory if that contains an archive. Otherwise it is the user's
    own directory (XDG Base Directory Specification), or ``data`` if the user has no home directory.
    """
    local = Path("data")
    if any((local / name).exists() for name in (INDEX, SEGMENTS, SETTINGS_FILE)):
        return local
    base = Path(environment.get("XDG_DATA_HOME", ""))
    if not base.is_absolute():
        home = Path(environment.get("HOME", ""))
        if not home.is_absolute():
            return local
        base = home / ".local/share"
    return base / "archiver"


def read_settings(options: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Build settings from flags, environment variables, the data directory's file, and defaults.

    Raises:
        InvalidSettings: a value is invalid.
    """
    values: dict[str, Any] = {
        name: environment[key] for name in SETTINGS if (key := variable(name)) in environment
    }
    fixed = dict.fromkeys(values, Source.ENVIRONMENT) | dict.fromkeys(options, Source.COMMAND_LINE)
    values |= options
    values.setdefault("data", default_data(environment))
    in_file = read_file(Path(values["data"]))
    from_file = frozenset(in_file)
    try:
        settings = Settings(**(in_file | values), from_file=from_file, fixed=fixed)
    except InvalidSettings as error:
        of_file = from_file - values.keys()
        raise InvalidSettings(
            {
                f"{name} in {SETTINGS_FILE}" if name in of_file else name: reason
                for name, reason in error.reasons.items()
            }
        ) from error
    if settings.host_delay * settings.crawl_processes > MAX_HOST_DELAY:
        reason = Message(
            "must be at most {number} for this number of crawl processes",
            number=f"{MAX_HOST_DELAY / settings.crawl_processes:g}",
        )
        raise InvalidSettings({"host_delay": reason})
    return settings


def dump_settings(settings: Settings) -> dict[str, object]:
    """Return the settings as plain values for a child process, without the password."""
    return {
        name: setting.kind.dump(getattr(settings, name))
        for name, setting in SETTINGS.items()
        if name != "password"
    }


GC_THRESHOLDS = (200_000, 20, 50)
"""With Python's default of 700 new objects, cyclic garbage collection takes a fifth of a crawl."""
MAX_EXTRACTORS = 3
"""More extraction processes than this do not speed up one fetching process."""
EXTRACTOR_BYTES = 512 << 20
"""Memory reserved for each extraction process. Most use a sixth of it; large pages need more."""
M_TRIM_THRESHOLD, M_TOP_PAD, M_ARENA_MAX = -1, -2, -8
"""Constants of malloc.h in the GNU C library; other C libraries have no ``mallopt``."""
TRIM_BYTES = 8 << 20
PAD_BYTES = 1 << 20
"""With the C library's default of 128 kB, the end of the heap is released and requested again five
times per URL, which takes a tenth of a crawl's CPU time.
"""

CGROUPS = Path("/sys/fs/cgroup")
"""Where the kernel exposes the limits of a container or a systemd service."""

log = get_log(__name__)


def share_among_processes(
    settings: Settings,
    *,
    hosts_are_shared: bool = False,
    leaves_a_core: bool = True,
    cgroups: Path = CGROUPS,
) -> Settings:
    """Divide the limits among crawl processes, so that together they respect the settings.

    Args:
        settings: limits for all processes together.
        hosts_are_shared: whether locks in the database already apply the per-host limits to all
            processes together.
        leaves_a_core: whether extraction processes leave a core free for each fetching process. The
            web service needs this to stay responsive.
        cgroups: where the limits of this process are read.
    """
    processes = settings.crawl_processes
    if not settings.extract_processes:
        readers = _extractor_count(processes, cgroups, leaves_a_core=leaves_a_core)
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


def _extractor_count(processes: int, cgroups: Path, *, leaves_a_core: bool) -> int:
    """Return the number of extraction processes for each fetching process."""
    cores = min([len(os.sched_getaffinity(0)), *_cores_allowed(cgroups)])
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    memory = min([memory, *_memory_allowed(cgroups)])
    spare_cores = cores - processes if leaves_a_core else cores
    spare = min(spare_cores // processes, memory // EXTRACTOR_BYTES // processes)
    return min(max(spare, 1), MAX_EXTRACTORS)


def _cores_allowed(cgroups: Path) -> Iterator[int]:
    """Yield the limits of ``cpu.max`` (quota and period in microseconds), rounded up to cores."""
    for quota, period in _read_limits(cgroups, "cpu.max"):
        yield max(ceil(quota / period), 1)


def _memory_allowed(cgroups: Path) -> Iterator[int]:
    """Yield the memory limits in bytes, from the files of cgroups v2 and v1."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        yield from (each[0] for each in _read_limits(cgroups, name))


def _read_limits(cgroups: Path, name: str) -> Iterator[list[int]]:
    """Yield the numbers in the file ``name`` of each cgroup that limits this process.

    A file without a limit is skipped. It contains ``max`` (see the kernel's
    Documentation/admin-guide/cgroup-v2.rst).
    """
    for group in _groups():
        try:
            yield [int(each) for each in (cgroups / group / name).read_text().split()]
        except (OSError, ValueError):
            continue


def _groups() -> Iterator[PurePosixPath]:
    """Yield the root cgroup, then this process's cgroup and its parents.

    Inside a container, the root is the container's own cgroup.
    """
    yield PurePosixPath()
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        if line.startswith("0::/"):
            path = PurePosixPath(line.removeprefix("0::/"))
            yield from (path, *path.parents)


def raise_open_file_limit() -> None:
    """Raise the limit of open files to the maximum that the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def tune_memory() -> None:
    """Run garbage collection less often, and let the C library return freed memory.

    By default each of a dozen threads has its own malloc arena, which keeps freed blocks of several
    megabytes. A long crawl would use a third more memory.
    """
    gc.set_threshold(*GC_THRESHOLDS)
    c_library = import_module("ctypes").CDLL(
        None
    )  # ctypes is slow to import, and short commands do not need it
    mallopt = getattr(c_library, "mallopt", None)
    if mallopt:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_TRIM_THRESHOLD, TRIM_BYTES)
        mallopt(M_TOP_PAD, PAD_BYTES)
