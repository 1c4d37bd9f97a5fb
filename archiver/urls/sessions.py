"""Ids of sessions in addresses, which the keys of ``surt`` leave out."""

import re2

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


def without_path_session(path: str) -> str:
    """A path without the ids that ASP.NET puts between its segments."""
    for session in _PATH_SESSIONS:
        if found := session.fullmatch(path):
            path = found[1] + found[2]
    return path


def without_query_session(query: str) -> str:
    """A query without the ids that Java, PHP, ASP and ColdFusion put into it."""
    for session in _QUERY_SESSIONS:
        if found := session.fullmatch(query):
            query = found[1] + (found[2] or "")
    return query
