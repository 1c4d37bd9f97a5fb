"""Every setting: its one name, its one default, and what it is for.

Each field is the flag ``--name-with-dashes`` and the variable ``ARCHIVER_NAME_WITH_UNDERSCORES``.
A ``Settings`` is a value that is passed; nothing reads the environment after it is built.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any, Literal

from archiver import __version__
from archiver.model.language import TAGS
from archiver.setting_kinds import (
    Kind,
    bucket,
    choice,
    decimal,
    integer,
    networks,
    origin,
    path,
    server_address,
    switch,
    text,
    timegates,
    words,
)

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
