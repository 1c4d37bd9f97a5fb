"""What would run in a page, put to rest: renamed, and kept for who reads it.

Nothing runs in a sandbox without scripts, whatever stands in the markup. But Chromium tells its
console of each script that it holds off, a line for every one, and of what it preloads for them.
"""

import re
from typing import Final

from archiver.rewrite.attributes import StartTag
from archiver.rewrite.treatments import HANDLER
from archiver.wire.media_type import MediaType

_DATA: Final = "text/x-archived-script"
"""No type of a script, so that its element is a block of data (HTML §4.12.1)."""
_RUNNING: Final = frozenset({"", "module", "importmap", "speculationrules", "webbundle"})

_PLUGINS: Final = re.compile("flash|java|silverlight|x-director")
"""What of a media type says that a plug-in would have shown it."""


def is_handler(name: str) -> bool:
    """Whether an attribute of this name, lower case, is an event handler."""
    return name.startswith("on") and HANDLER.fullmatch(name) is not None


def put_to_rest(tag: StartTag, name: str) -> bool:
    """Do so with an element, but for its handlers; whether there was anything to do.

    Args:
        tag: its start tag.
        name: of the element, lower case, without a prefix.
    """
    if name == "script":
        return _script(tag)
    return name in {"embed", "object"} and _plugged(tag)


def _script(tag: StartTag) -> bool:
    """Give it a type that no browser runs; a block of data stays as it is."""
    given = tag.value("type").strip().lower()
    if given not in _RUNNING and not MediaType(given).is_javascript:
        return False
    if tag.has("type"):
        tag.make_inert("type", instead=f'type="{_DATA}" ')
    else:
        tag.set("type", _DATA)
    return True


def _plugged(tag: StartTag) -> bool:
    """Have nothing loaded for a plug-in, so that what stands in its place is shown."""
    loaded = [name for name in ("data", "src") if tag.has(name)]
    paths = (tag.value(name).partition("?")[0].lower() for name in loaded)
    if not _PLUGINS.search(tag.value("type").lower()) and not any(
        path.endswith(".swf") for path in paths
    ):
        return False
    for name in ("type", *loaded):
        tag.make_inert(name)
    return True
