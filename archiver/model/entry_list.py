"""A list that a person keeps, and the order that all of them stand in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from archiver.model.folder_path import folder_names, folder_path, folders_above

MOST_PLACE = 1 << 61
"""No place in a list is higher, so that there is room behind it."""
_QUOTES = dict.fromkeys(map(ord, '"\u201c\u201d\u201e\u00ab\u00bb'))


@dataclass(frozen=True, slots=True)
class EntryList:
    """A list: of entries that were put into it, or of all that a search finds.

    Attributes:
        path: its name behind those of the lists it lies in, as ``model.folder_path`` writes it.
        query: the search that is saved under this name; empty for a list made by hand.
        count: entries that lie in it, or that the search finds; None where nobody counted yet.
        is_more: there are more than were counted.
    """

    path: str
    query: str = ""
    count: int | None = None
    is_more: bool = False

    @property
    def asks(self) -> str:
        """The query that shows it; quotes are left out, since no query can hold them."""
        return self.query or f'list:"{unquoted(self.path)}"'

    @property
    def name(self) -> str:
        """The last name of its path."""
        return folder_names(self.path)[-1]

    @property
    def depth(self) -> int:
        """How many lists it lies in."""
        return len(folder_names(self.path)) - 1


@dataclass(frozen=True, slots=True)
class Arrangement:
    """All lists, in order, as a record holds them.

    Attributes:
        revision: of two arrangements the one with the higher revision holds.
        at: when (aware, UTC).
        lists: each once.
    """

    revision: int
    at: datetime
    lists: tuple[EntryList, ...]


def unquoted(path: str) -> str:
    """A path without the characters that end a phrase in a query."""
    return path.translate(_QUOTES)


def is_within(path: str, outer: str) -> bool:
    """Whether a path is another one, or lies below it."""
    return path == outer or path.startswith(f"{outer}/")


def moved_path(path: str, old: str, new: str) -> str:
    """Where a path is once the list ``old`` is called ``new``: below it, if it was."""
    return new + path[len(old) :] if is_within(path, old) else path


def with_outer(lists: Iterable[EntryList]) -> list[EntryList]:
    """Each once, and before each those that it lies in."""
    given = {each.path: each for each in lists}
    found: dict[str, EntryList] = {}
    for path, each in given.items():
        for outer in folders_above(path):
            found.setdefault(outer, given.get(outer, EntryList(outer)))
        found.setdefault(path, each)
    return list(found.values())


def as_tree(lists: Sequence[EntryList]) -> list[EntryList]:
    """The same, each behind the one that it lies in; those side by side in their order."""
    below: dict[str, list[EntryList]] = {}
    for each in with_outer(lists):
        below.setdefault(folder_path(folder_names(each.path)[:-1]), []).append(each)
    found: list[EntryList] = []
    waiting = below.get("", [])[::-1]
    while waiting:
        found.append(waiting.pop())
        waiting += below.get(found[-1].path, [])[::-1]
    return found


def shifted(lists: Sequence[EntryList], path: str, *, down: bool) -> list[EntryList]:
    """The same with a list one further up or down among those side by side with it."""
    tree = as_tree(lists)
    outer = folder_names(path)[:-1]
    beside = [each.path for each in tree if folder_names(each.path)[:-1] == outer]
    if path not in beside:
        return tree
    at = beside.index(path)
    other = at + (1 if down else -1)
    if not 0 <= other < len(beside):
        return tree
    beside[at], beside[other] = beside[other], beside[at]
    ranks = {each: rank for rank, each in enumerate(beside)}
    known = {each.path: each for each in tree}
    put = iter(sorted(beside, key=ranks.__getitem__))
    return as_tree([known[next(put)] if each.path in ranks else each for each in tree])
