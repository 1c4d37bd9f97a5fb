"""Query strings that represent the bodies of requests in CDXJ indexes.

A CDXJ index finds responses by URL. So Webrecorder's tools append the method and the body of a
request other than GET to the URL (``postquery`` of cdxj-indexer, ``postToGetUrl`` of warcio.js).
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus, urlencode

from archiver.http.media_types import declared_media_type, essence_of

MAX_QUERY = 4096
MAX_DEPTH = 50
_FORM_PART = re.compile(r'name="([^"]+)"[^\r\n]*\r\n\r\n([^\r\n]*)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RequestQuery:
    """Method of a request, and its body as a query string."""

    method: str
    text: str

    def added_to(self, url: str) -> str:
        """Return the URL under which a CDXJ index lists the response."""
        query = f"&{unquote_plus(self.text)}" if self.text else ""
        return f"{url}{'&' if '?' in url else '?'}__wb_method={self.method}{query}"


def query_of_request(request: bytes) -> RequestQuery | None:
    """Return the query of an HTTP request; None for GET."""
    head, _, body = request.partition(b"\r\n\r\n")
    line, _, fields = head.decode("latin-1").partition("\r\n")
    method = line.partition(" ")[0]
    if method in ("", "GET"):
        return None
    named = (each.partition(":") for each in fields.split("\r\n"))
    kind = declared_media_type([(name, value.strip()) for name, _, value in named])
    has_body = body or method in ("POST", "PUT")
    return RequestQuery(method, _query(body, essence_of(kind))[:MAX_QUERY] if has_body else "")


def _query(body: bytes, media_type: str) -> str:
    match media_type:
        case "application/x-www-form-urlencoded":
            return body.decode("utf-8", "replace")
        case "multipart/form-data":
            return urlencode(_FORM_PART.findall(body.decode("utf-8", "replace")))
        case "application/json":
            return _json_query(body) or ""
        case "text/plain":
            return _json_query(body) or _binary_query(body)
        case _:
            return _binary_query(body)


def _binary_query(body: bytes) -> str:
    return f"__wb_post_data={b64encode(body).decode()}"


def _json_query(body: bytes) -> str | None:
    """Return the members of a JSON body as a query string; None if the body is not JSON."""
    try:
        members = [*_members(json.loads(body), "", 0)]
    except (ValueError, RecursionError):
        return None
    counts: dict[str, int] = {}
    query: list[tuple[str, str]] = []
    for name, value in members:
        counts[name] = counts.get(name, 0) + 1
        query.append((name if counts[name] == 1 else f"{name}.{counts[name]}_", value))
    return urlencode(query)


def _members(value: Any, name: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _members(each, key, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _members(each, name, depth + 1)
    elif name:
        yield name, value if isinstance(value, str) else json.dumps(value)
