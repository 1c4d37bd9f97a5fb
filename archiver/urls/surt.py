"""SURT keys: URLs turned around so that a site's pages sort together, as CDX servers use them."""

import re
from urllib.parse import unquote_to_bytes

_WWW = re.compile(r"www\d*\.")
_SAFE = frozenset(range(0x21, 0x7F)) - frozenset(b"#%")


def surt(url: str) -> str:
    """The key of a serialised http(s) URL, such as ``com,example)/a?b=1``.

    Scheme, ``www.``, default port, trailing slash of a path and order of the query do not count,
    nor does letter case; the rules are those of the field's ``surt`` library and of pywb.
    """
    scheme, _, rest = url.partition("://")
    authority, slash, tail = rest.partition("/")
    if "?" in authority:
        authority, _, tail = rest.partition("?")
        slash, tail = "/", "?" + tail
    path, question, query = (slash + tail).partition("?")
    key = f"{_host_key(scheme, authority.lower())}){_path_key(path)}"
    if question and query:
        key += "?" + "&".join(sorted(_normalise(query).split("&")))
    return key.lower()


def _host_key(scheme: str, authority: str) -> str:
    name, colon, port = authority.rpartition("@")[2].partition(":")
    if name.startswith("["):
        return authority
    if colon and port == {"http": "80", "https": "443"}.get(scheme):
        colon = port = ""
    name = _WWW.sub("", name, count=1) if _WWW.match(name) else name
    parts = name.rstrip(".").split(".")
    turned = name if all(part.isdecimal() for part in parts) else ",".join(reversed(parts))
    return turned + colon + port


def _path_key(path: str) -> str:
    path = _normalise(path) or "/"
    return path.rstrip("/") or "/"


def _normalise(text: str) -> str:
    """One spelling for each percent-escape: unescaped where it may be, else upper case."""
    if "%" not in text:
        return text
    return "".join(
        chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in unquote_to_bytes(text)
    )
