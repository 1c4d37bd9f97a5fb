"""Addresses as people paste them: without a scheme, and with what tells who sent them: pure."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from urllib.parse import unquote_plus

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_HOST = re.compile(
    r"(?:(?P<name>(?:(?!-)[\w-]+\.)+[^\W\d_][\w-]+\.?)|localhost|(?:\d{1,3}\.){3}\d{1,3}|\[[\da-fA-F:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?:[/?#]|$)"
)
_NAME = re.compile(r"[\w.-]+")
_ENDINGS = (
    "js mjs ts tsx jsx css scss html htm xhtml php asp aspx jsp txt rst adoc tex bib log json "
    "jsonl xml yml yaml toml ini cfg conf env csv tsv sql ipynb rb kt cpp hpp lua bat pdf "
    "epub djvu doc docx odt rtf xls xlsx ods ppt pptx odp png jpg jpeg gif webp avif svg ico "
    "mp3 ogg flac wav mp4 mkv avi webm tar gz tgz bz2 xz 7z rar exe dmg iso deb rpm apk warc "
    "wacz"
)
_FILES = frozenset(_ENDINGS.split())
"""What files end in, and no domain does (the Root Zone Database of IANA)."""
_FILES_AND_DOMAINS = frozenset({"md", "py", "java", "zip", "mov", "mobi"})
"""What both end in; a file, where nothing but a name stands before it."""


def with_scheme(given: str) -> str:
    """An address with a scheme before it, where a person left it out.

    It is ``https://``; but ``http://`` for a number, for localhost and for a port other than 443:
    what stands there seldom has a certificate.

    >>> with_scheme("example.org/x"), with_scheme("127.0.0.1:8080/x"), with_scheme("two words")
    ('https://example.org/x', 'http://127.0.0.1:8080/x', 'two words')
    """
    text = given.strip()
    host = None if _SCHEME.match(text) else _HOST.match(text)
    if not host:
        return text
    is_plain = host["port"] != "443" and (host["port"] or not host["name"])
    return f"http{'' if is_plain else 's'}://{text}"


def words_of(given: str) -> str:
    """What was typed where an address belongs, if it is words to be searched for; or nothing.

    Several lines are addresses, and so is what begins with a scheme, whatever is wrong with it.
    What looks like the name of a file is words.

    >>> words_of("red kite"), words_of("example.org"), words_of("https://two words")
    ('red kite', '', '')
    >>> words_of("node.js"), words_of("README.md"), words_of("www.gov.md")
    ('node.js', 'README.md', '')
    """
    text = given.strip()
    if "\n" not in text and _is_file_name(text):
        return text
    is_address = "\n" in text or _SCHEME.match(with_scheme(text))
    return "" if is_address else text


def address_in(words: str) -> str:
    """The address that words which were searched for may be meant as; or nothing.

    >>> address_in("node.js"), address_in("Example.org/x"), address_in("red kite")
    ('https://node.js', 'https://Example.org/x', '')
    """
    text = words.strip()
    if any(each.isspace() for each in text):
        return ""
    address = with_scheme(text)
    return address if address.lower().startswith(("http://", "https://")) else ""


def _is_file_name(text: str) -> bool:
    stem, dot, ending = text.lower().rpartition(".")
    if not (stem and dot and _NAME.fullmatch(stem)):
        return False
    return ending in _FILES or (ending in _FILES_AND_DOMAINS and "." not in stem)


def without_trackers(url: str, trackers: Sequence[str]) -> str:
    """An address without those parameters of its query that are named, with ``*`` for anything.

    What else is in the query stays as it was written, in its order.

    >>> without_trackers("https://a.example/?id=1&utm_source=x#part", ["utm_*"])
    'https://a.example/?id=1#part'
    """
    rest, hash_, fragment = url.partition("#")
    path, mark, query = rest.partition("?")
    if not mark:
        return url
    pairs = query.split("&")
    kept = [each for each in pairs if not _is_one(each, trackers)]
    if len(kept) == len(pairs):
        return url
    return path + (f"?{'&'.join(kept)}" if kept else "") + hash_ + fragment


def _is_one(pair: str, trackers: Sequence[str]) -> bool:
    name = unquote_plus(pair.partition("=")[0]).lower()
    return bool(name) and any(fnmatchcase(name, each.lower()) for each in trackers)
