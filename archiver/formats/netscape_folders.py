"""The folders around the links of a Netscape file, with what is said of them."""

from collections.abc import Mapping, Sequence

from archiver.formats.file_lists import FileLists
from archiver.formats.netscape_fields import MAX_TITLE
from archiver.model.folder_path import folder_path

_MAX_DEPTH = 64
_KEPT = ("add_date", "last_modified")
_MOST_DATE = 100
_MOST_OWED = 64
_MOST_DESCRIPTION = 10_000
# What browsers call their own top folders; a folder of that name further down is the person's.
_ROOT_FOLDERS = frozenset(
    {
        "bookmarks",
        "bookmarks bar",
        "bookmarks menu",
        "bookmarks toolbar",
        "bookmarks toolbar folder",
        "favorites",
        "favorites bar",
        "favourites",
        "favourites bar",
        "mobile bookmarks",
        "other bookmarks",
        "other favorites",
        "other favourites",
        "personal toolbar folder",
        "speed dial",
        "unsorted bookmarks",
    }
)
_ROOT_ATTRIBUTES = ("personal_toolbar_folder", "unfiled_bookmarks_folder")


class Folders:
    """The folders around a link: ``path`` holds their names, ``root`` that of the browser's own.

    ``owed`` is what is said of folders that were entered since the last link: it goes with the
    next one. A folder that holds no link is told of as a list.

    Args:
        lists: takes those.
        has_roots: whether browsers' own folders are there, that are none of the person's.
    """

    def __init__(self, lists: FileLists, *, has_roots: bool) -> None:
        self._lists = lists
        self._has_roots = has_roots
        self._facts: dict[str, str] = {}
        self.owed: list[Mapping[str, str]] = []
        self._filled = 0
        self.path: tuple[str, ...] = ()
        self.root = ""
        self._outer: list[tuple[tuple[str, ...], str]] = []
        self._too_deep = 0
        self._next = ""
        self._next_is_root = False

    @property
    def depth(self) -> int:
        """How many lists are open."""
        return len(self._outer)

    @property
    def is_announced(self) -> bool:
        """Whether a folder was named that is not entered yet."""
        return bool(self._next)

    def fill(self) -> Sequence[Mapping[str, str]]:
        """Note that a link lies here; what is to be told with it."""
        self._filled = len(self._outer)
        if not self.owed:
            return ()
        facts, self.owed = self.owed, []
        return facts

    def describe(self, text: str) -> None:
        """Take what is said of the folder that is announced."""
        if description := text.strip():
            self._facts["description"] = description[:_MOST_DESCRIPTION]

    def announce(self, attributes: Mapping[str, object]) -> None:
        """Begin a folder, by the attributes of its heading."""
        self._next = ""
        known = {name: str(attributes.get(name, ""))[:_MOST_DATE] for name in _KEPT}
        self._facts = {name: each for name, each in known.items() if each not in ("", "0")}
        self._next_is_root = any(attributes.get(key) == "true" for key in _ROOT_ATTRIBUTES)

    def named(self, name: str) -> None:
        """Take the name of the folder that was begun."""
        self._next = " ".join(name.split())

    def enter(self) -> None:
        """Go into the list that begins here: of the folder that was named, if one was."""
        if len(self._outer) >= _MAX_DEPTH:
            self._too_deep += 1
            return
        self._outer.append((self.path, self.root))
        is_root = self._has_roots and (
            self._next_is_root or (not self.path and self._next.lower() in _ROOT_FOLDERS)
        )
        if self._next and not is_root:
            self.path = (*self.path, self._next)
            if self._facts and len(self.owed) < _MOST_OWED:
                self.owed.append({"path": folder_path(self.path), **self._facts})
        elif is_root:
            self.root = self._next[:MAX_TITLE]
        self._next, self._next_is_root, self._facts = "", False, {}

    def leave(self) -> None:
        """Go out of the list that ends here."""
        if self._too_deep:
            self._too_deep -= 1
        elif self._outer:
            depth = len(self._outer)
            if self._filled < depth and self.path != self._outer[-1][0]:
                self._lists.take(folder_path(self.path), "")
                self._filled = depth  # and so are those that it lies in
            self._filled = min(self._filled, depth - 1)
            self.path, self.root = self._outer.pop()
