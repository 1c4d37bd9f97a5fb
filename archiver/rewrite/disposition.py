"""What a replayed file is called when it is saved (RFC 6266): a name, and nothing but a name."""

import re
from urllib.parse import unquote, urlsplit

from archiver.wire.attachment import attachment
from archiver.wire.head import readable

LONGEST = 120
_EXTENDED = re.compile(r"""filename\*\s*=\s*[\w-]*'[^']*'([^\s;]+)""", re.IGNORECASE)
_PLAIN = re.compile(r"""filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))""", re.IGNORECASE)
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*%\u2028\u2029\u202a-\u202e\u2066-\u2069]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)


def content_disposition(given: str | None, url: str, *, is_shown: bool) -> str | None:
    """The Content-Disposition to replay a file with; None where it is shown and not saved.

    Args:
        given: the archived header, if there was one.
        url: of the capture; its last part is the name where none was given.
        is_shown: whether browsers show what it is.
    """
    given = readable((given or "")[:4096])
    if is_shown and not given.strip().lower().startswith("attachment"):
        return None
    given_name = _given_name(given) or unquote(urlsplit(url).path.rpartition("/")[2])
    return attachment(safe_name(given_name))


def safe_name(name: str) -> str:
    """A file name without a folder, a drive, a trick of writing direction, or a hidden file's dot.

    >>> safe_name("../../etc/passwd"), safe_name("con.txt"), safe_name("")
    ('etc_passwd', '_con.txt', 'file')
    """
    name = _UNSAFE.sub("_", name).strip(" ._")[-LONGEST:].lstrip(" ._")
    if _RESERVED.match(name):
        name = f"_{name}"
    return name or "file"


def _given_name(given: str) -> str:
    extended = _EXTENDED.search(given)
    if extended:
        return unquote(extended[1])
    plain = _PLAIN.search(given)
    return (plain[1] or plain[2] or "") if plain else ""
