"""SURT keys without session ids.

Archives look up URLs by these keys, so this module must return exactly the keys of other programs.
No standard defines them. Like pywb and OpenWayback, this module canonicalises as Google Safe
Browsing does and then as the Internet Archive does; ``benchmarks/surt_oracle.py`` compares the
results.
"""

import re
from functools import lru_cache
from hashlib import sha256
from urllib.parse import unquote_to_bytes

import re2

REMEMBERED = 4096
"""Size of the key cache; the key of a fetched URL is needed several times."""
MAX_KEY_BYTES = 2_000
"""Maximum size of a key in the database. An index row of PostgreSQL has at most 2,704 bytes."""
_START_BYTES = 1_900
_SEPARATOR = "\x02"
"""Separator of the two parts of a shortened key; no SURT contains it."""
_WWW = re.compile(r"www\d*\.")
_PORTS_LEFT_OUT = {"http": ("80", "0"), "https": ("443", "0")}
_HEX = frozenset("0123456789ABCDEFabcdef")
_ESCAPED = re.compile(r"[^!-~]|[#%]")


def surt_key(url: str) -> str:
    """Return the SURT of a URL, shortened to at most ``MAX_KEY_BYTES`` bytes.

    A long SURT is replaced by its start and the digest of the whole SURT. Long SURTs with the same
    start are sorted in another order than their full texts.
    """
    return shortened(surt(url))


def shortened(key: str) -> str:
    """Return a SURT that fits into an index row of the database; see ``surt_key``."""
    if len(key) <= MAX_KEY_BYTES // 4 or len(encoded := key.encode()) <= MAX_KEY_BYTES:
        return key
    start = encoded[:_START_BYTES].decode("utf-8", "ignore")
    return f"{start}{_SEPARATOR}{sha256(encoded).hexdigest()}"


@lru_cache(REMEMBERED)
def surt(url: str) -> str:
    """Return the key of a serialised http(s) URL, such as ``com,example)/a?b=1``.

    Scheme, user, ``www.``, default port, empty segments and the last slash of a path, session ids,
    the order of query parameters, letter case and repeated escaping are ignored.
    """
    scheme, _, rest = url.partition("://")
    authority, slash, tail = rest.partition("/")
    if "?" in authority:
        authority, _, tail = rest.partition("?")
        slash, tail = "/", "?" + tail
    path, _, query = (slash + tail).partition("?")
    key = f"{_host_key(scheme, authority.lower())}){_path_key(path)}"
    if query and (ordered := _query_key(query)):
        key += "?" + ordered
    return key


@lru_cache(REMEMBERED)
def _host_key(scheme: str, authority: str) -> str:
    name, port = _split(authority.rpartition("@")[2])
    if port in _PORTS_LEFT_OUT.get(scheme, ()):
        port = ""
    name = name.replace("..", ".").strip(".")
    name = name[match.end() :] if (match := _WWW.match(name)) else name
    turned = ",".join(reversed(name.split(".")))
    return f"{turned}:{port}" if port else turned


def _split(authority: str) -> tuple[str, str]:
    """Return host and port; IPv6 addresses without brackets, as usual in SURT."""
    if authority.startswith("["):
        name, _, port = authority[1:].partition("]")
        return name, port.removeprefix(":")
    name, _, port = authority.partition(":")
    return name, port


def _path_key(path: str) -> str:
    path = _unescape(path)
    if "//" in path or "/." in path:
        path = _normalise_path(path)
    path = _escape(path).lower()
    if ".aspx" in path:
        path = _without_path_session(path)
    return path.removesuffix("/") or "/"


def _normalise_path(path: str) -> str:
    """Return a path without empty segments and with ``.`` and ``..`` resolved."""
    segments: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == ".." and segments:
            segments.pop()
        elif segment != ".":
            segments.append(segment)
    return "/" + "".join(f"{each}/" for each in segments[:-1] if each) + "".join(segments[-1:])


def _query_key(query: str) -> str:
    query = _escape(_unescape(query)).lower()
    if "sid=" in query or "sessionid" in query or "cfid=" in query:
        query = _without_query_session(query)
    return "&".join(sorted(query.split("&"), key=lambda pair: tuple(pair.split("=", 1))))


def _unescape(text: str) -> str:
    """Unescape until no escape is left; each byte becomes a character."""
    if not text.isascii():
        text = text.encode().decode("latin-1")
    if "%" not in text:
        return text
    unescaped = unquote_to_bytes(text.encode("latin-1")).decode("latin-1")
    return _unescape_nested(unescaped) if "%" in unescaped else unescaped


def _unescape_nested(text: str) -> str:
    """Unescape completely in one pass; an unescaped character can complete another escape."""
    parts: list[str] = []
    for char in text:
        parts.append(char)
        while len(parts) > 2 and parts[-3] == "%" and parts[-2] in _HEX and parts[-1] in _HEX:
            parts[-3:] = [chr(int(parts[-2] + parts[-1], 16))]
    return "".join(parts)


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02x}", text)


_PATH_SESSIONS = (
    re2.compile(r"(?i)(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)"),
    re2.compile(r"(?i)(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)"),
)
_QUERY_SESSIONS = tuple(
    re2.compile(rf"(?i)(.*)(?:{session})(?:&(.*))?")
    for session in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)


def _without_path_session(path: str) -> str:
    """Remove the ids that ASP.NET puts between the segments of a path."""
    for session in _PATH_SESSIONS:
        if match := session.fullmatch(path):
            path = match[1] + match[2]
    return path


def _without_query_session(query: str) -> str:
    """Remove the session ids of Java, PHP, ASP and ColdFusion from a query."""
    for session in _QUERY_SESSIONS:
        if match := session.fullmatch(query):
            query = match[1] + (match[2] or "")
    return query
