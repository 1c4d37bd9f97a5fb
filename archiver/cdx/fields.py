"""What a CDX row has, by the Wayback CDX server's names; pywb's are understood too."""

from archiver.errors import InputError

FIELDS = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
"""What a row has if nothing else is asked for, in order."""
EXTRA_FIELDS = ("offset", "filename", "redirect")
DUPES = ("dupecount",)
RESOLVED = ("orig.length", "orig.offset", "orig.filename")
SKIPS = ("skipcount",)
LAST_SKIP = ("endtimestamp",)
COUNTED = (*DUPES, *RESOLVED, *SKIPS, *LAST_SKIP)
"""What a row has where it is asked for by a parameter of its own."""
PYWB_NAMES = {"original": "url", "mimetype": "mime", "statuscode": "status"}
ALIASES = {theirs: name for name, theirs in PYWB_NAMES.items()}


def field_of(name: str) -> str:
    """The field that a name means.

    Raises:
        InputError: there is none.
    """
    name = ALIASES.get(name, name)
    if name not in FIELDS + EXTRA_FIELDS + COUNTED:
        known = ", ".join(FIELDS + EXTRA_FIELDS + COUNTED)
        raise InputError(f"There is no field {name[:40]}. There are: {known}.")
    return name
