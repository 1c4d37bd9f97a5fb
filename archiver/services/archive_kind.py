"""Which files are archives of captures, and of what kind: told by their content."""

from io import BufferedReader

from archiver.errors import UnreadableFile
from archiver.formats.zip_members import member_names
from archiver.warc.recognise import recognise

WACZ = "WACZ"
_LOOKED_AT = 8192
_PACKAGED = (".warc", ".warc.gz", ".arc.gz", ".wacz")
_ZIP = b"PK\x03\x04"


def kind_of(file: BufferedReader, name: str) -> str | None:
    """``WARC``, ``ARC`` or ``WACZ`` for a file that is one; None for any other. Blocking.

    Nothing of it is read away. A zip archive is told by what it holds; one that is damaged, too
    long to be listed, or can't be sought in, by its name.
    """
    head = file.peek(_LOOKED_AT)
    if not head.startswith(_ZIP):
        return recognise(head[:_LOOKED_AT])
    names = _members(file) if file.seekable() else ()
    if not names:
        return WACZ if name.lower().endswith(WACZ.lower()) else None
    return WACZ if any(map(_is_of_package, names)) else None


def _members(file: BufferedReader) -> tuple[str, ...]:
    place = file.tell()
    try:
        return member_names(file)
    except UnreadableFile:  # who reads it says why
        return ()
    finally:
        file.seek(place)


def _is_of_package(name: str) -> bool:
    return name == "datapackage.json" or name.lower().endswith(_PACKAGED)
