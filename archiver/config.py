"""Every setting: its one name, its one default, and what it is for.

Each field is the flag ``--name-with-dashes`` and the variable ``ARCHIVER_NAME_WITH_UNDERSCORES``.
A ``Settings`` is a value that is passed; nothing reads the environment after it is built.
"""

from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from archiver import __version__

Network = IPv4Network | IPv6Network


class Settings(BaseSettings):
    """How one process of the archive behaves."""

    model_config = SettingsConfigDict(env_prefix="ARCHIVER_", frozen=True, extra="forbid")

    data: Path = Field(Path("data"), description="Directory of the archive.")

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    password: SecretStr | None = Field(
        None, description="Password of the web service; needed to listen beyond loopback."
    )
    allow_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Host names the service answers to, besides addresses and localhost."
    )
    replay_origin: str | None = Field(
        None,
        description="Second origin that shows archived pages, such as http://127.0.0.1:8081.",
    )
    max_upload_bytes: int = Field(
        1 << 30, ge=1, description="Largest bookmark file taken by the web page, in bytes."
    )

    allow_networks: Annotated[tuple[Network, ...], NoDecode] = Field(
        (), description="Non-public networks that may be captured, such as 192.168.1.0/24."
    )
    user_agent: str = Field(
        f"Mozilla/5.0 (compatible; archiver/{__version__}; personal web archive)",
        min_length=1,
        description="User-Agent sent with every request.",
    )
    concurrency: int = Field(32, ge=1, le=4096, description="Pages captured at the same time.")
    host_concurrency: int = Field(
        4, ge=1, le=4096, description="Requests under way at the same host at the same time."
    )
    host_delay: float = Field(
        0.2, ge=0, le=3600, description="Least seconds between two requests to the same host."
    )
    crawl_processes: int = Field(
        1,
        ge=1,
        le=64,
        description="Processes that fetch pages; they share what a host may be asked for.",
    )
    connect_timeout: float = Field(10, gt=0, description="Seconds to wait for a connection.")
    read_timeout: float = Field(30, gt=0, description="Seconds to wait for the next bytes.")
    fetch_timeout: float = Field(300, gt=0, description="Seconds one response may take in all.")
    page_timeout: float = Field(
        900, gt=0, description="Seconds a page and its requisites may take in all."
    )
    max_body_bytes: int = Field(100 << 20, ge=1, description="Largest response kept, in bytes.")
    max_decoded_bytes: int = Field(
        200 << 20, ge=1, description="Most bytes one response may decompress to."
    )
    max_redirects: int = Field(10, ge=0, le=100, description="Redirects followed for one URL.")
    max_requisites: int = Field(500, ge=0, description="Requisites fetched for one page.")
    requisite_max_age: float = Field(
        86400, ge=0, description="Seconds for which a requisite fetched earlier is taken as it is."
    )
    retries: int = Field(2, ge=0, le=20, description="Further attempts where they can help.")
    retry_delay: float = Field(
        5, ge=0, description="Seconds before the first further attempt; six times more each time."
    )
    max_retry_after: float = Field(
        3600, ge=0, description="Longest Retry-After that is waited for, in seconds."
    )

    segment_bytes: int = Field(
        512 << 20, ge=1, description="A WARC segment is closed once it is this large, in bytes."
    )
    articles: Literal["now", "later"] = Field(
        "now",
        description="When articles are read: now, as pages come, or later: by `archiver extract`, "
        "and by `serve` once nothing is left to fetch.",
    )
    extract_processes: int = Field(1, ge=1, le=64, description="Processes that read articles.")
    extract_timeout: float = Field(30, gt=0, description="Seconds reading one article may take.")
    extract_memory_bytes: int = Field(
        1 << 30, ge=1 << 28, description="Address space of a process that reads articles, in bytes."
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least to be logged: debug, info, warning or error."
    )
    log_json: bool = Field(False, description="Log as JSON lines.")

    @field_validator("replay_origin")
    @classmethod
    def _origin(cls, value: str | None) -> str | None:
        """An origin is a scheme, a host and perhaps a port, and nothing behind it."""
        if not value:
            return None
        parts = urlsplit(value.rstrip("/").lower())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("give an origin, such as https://replay.example.org")
        if parts.path or parts.query or parts.username:
            raise ValueError("an origin ends with its host or port")
        return f"{parts.scheme}://{parts.netloc}"

    @field_validator("allow_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """A variable or flag holds a list as words separated by commas or spaces."""
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("allow_networks", mode="before")
    @classmethod
    def _networks(cls, value: object) -> object:
        """An address within a network names it too: ``192.168.1.5/24``."""
        words = cls._split(value)
        if isinstance(words, tuple | list):
            return tuple(ip_network(each, strict=False) for each in words)
        return words
