r"""Lists of entries and folder paths.

A ``/`` in a name is escaped as ``\/``, and a ``\`` as ``\\``.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain, count, groupby
from operator import itemgetter

MAX_DEPTH = 64
MAX_NAME = 200
"""Maximum characters of a folder's name."""
_SPECIAL = re.compile(r"([\\/])")
_NAME = re.compile(r"(?:[^\\/]|\\.?)+")
_ESCAPED = re.compile(r"\\(.)")


def folder_path(names: Iterable[str]) -> str:
    r"""Join folder names to a path; empty names are dropped.

    >>> folder_path(["Recipes", "Soups/Stews"])
    'Recipes/Soups\\/Stews'
    """
    tidy = (" ".join(name.split())[:MAX_NAME] for name in names)
    escaped = [_SPECIAL.sub(r"\\\1", name) for name in tidy if name]
    return "/".join(escaped[:MAX_DEPTH])


def folder_names(path: str) -> tuple[str, ...]:
    """Split a path of ``folder_path`` into names."""
    return tuple(_ESCAPED.sub(r"\1", name) for name in _NAME.findall(path))


def tidy_path(path: str) -> str:
    r"""Normalise a user-supplied path.

    >>> tidy_path(" Recipes / Soups/")
    'Recipes/Soups'
    """
    return folder_path(folder_names(path))


def folders_above(path: str) -> tuple[str, ...]:
    """Return the paths of the parent folders, outermost first.

    >>> folders_above("Recipes/Soups/Stews")
    ('Recipes', 'Recipes/Soups')
    """
    names = folder_names(path)
    return tuple(folder_path(names[:depth]) for depth in range(1, len(names)))


MAX_PLACE = 1 << 61
"""Largest sort key in a list, so that entries can still be appended."""
MAX_LISTS = 5_000
"""Maximum number of lists that are shown and sorted. Entries in further lists are stored too."""
MAX_PATHS = 1 << 20
"""Maximum characters of all list paths in a file, including parents."""
_QUOTES = dict.fromkeys(map(ord, '"\u201c\u201d\u201e\u00ab\u00bb'))


class ListColour(StrEnum):
    """Colour of a list."""

    NONE = ""
    RED = "red"
    ORANGE = "orange"
    YELLOW = "yellow"
    GREEN = "green"
    BLUE = "blue"
    PURPLE = "purple"
    GREY = "grey"

    @classmethod
    def of(cls, text: object) -> "ListColour":
        """Return the colour of this name; ``NONE`` for an unknown one."""
        return next((each for each in cls if each == text), cls.NONE)


@dataclass(frozen=True, slots=True)
class EntryList:
    """A list: entries added by hand, or a saved search.

    Attributes:
        path: the names of its parents and its own name, joined by ``folder_path``.
        query: the saved search; empty for a list made by hand.
        count: number of its entries, or of search results; None if not counted yet.
        is_more: whether there are more search results than ``count``.
        nested_count: distinct entries in it and its nested lists; None if it has no nested lists.
        colour: chosen by the user.
    """

    path: str
    query: str = ""
    count: int | None = None
    is_more: bool = False
    nested_count: int | None = None
    colour: ListColour = ListColour.NONE

    @property
    def shown_count(self) -> int | None:
        """Number shown after its name: its entries and those of nested lists; None if unknown."""
        return self.count if self.nested_count is None else self.nested_count

    @property
    def nested_search_query(self) -> str:
        """Query for its entries and those of nested lists."""
        return f'list:"{unquoted(self.path)}/"'

    @property
    def search_query(self) -> str:
        """Query for its entries.

        Quotes in its path are removed, because queries can't escape them.
        """
        return self.query or f'list:"{unquoted(self.path)}"'

    @property
    def name(self) -> str:
        """The last component of its path."""
        return folder_names(self.path)[-1]

    @property
    def parent(self) -> str:
        """Path of the list that contains this one; empty at the top level."""
        return folder_path(folder_names(self.path)[:-1])

    @property
    def depth(self) -> int:
        """Number of parent lists."""
        return len(folder_names(self.path)) - 1


@dataclass(frozen=True, slots=True)
class ListsInFile:
    """Lists defined in a file, with or without entries.

    Attributes:
        found: the lists, in order.
        left_out: number of lists that were dropped, because there are too many.
    """

    found: tuple[EntryList, ...] = ()
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.found or self.left_out)

    def with_more(self, other: "ListsInFile") -> "ListsInFile":
        """Concatenate the lists of two parts of a file."""
        if not other:
            return self
        return ListsInFile((*self.found, *other.found), self.left_out + other.left_out)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """All lists in order, as stored in a record.

    Attributes:
        revision: number of the change; the record with the highest one is current.
        at: when it was written (aware, UTC).
        lists: all lists, without duplicates.
    """

    revision: int
    at: datetime
    lists: tuple[EntryList, ...]


def unquoted(path: str) -> str:
    """Remove the characters that end a phrase in a query."""
    return path.translate(_QUOTES)


def is_within(path: str, outer: str) -> bool:
    """Return whether ``path`` is ``outer`` or is nested in it."""
    return path == outer or path.startswith(f"{outer}/")


def moved_path(path: str, old: str, new: str) -> str:
    """Return a path after the list ``old`` is renamed to ``new``."""
    return new + path[len(old) :] if is_within(path, old) else path


def path_for_search(path: str, used: Collection[str]) -> str:
    """Return an unused path for a saved search, if a list already has its path.

    >>> path_for_search("Food/Soups", {"Food/Soups (search)"})
    'Food/Soups (search 2)'
    """
    *outer, name = folder_names(path)
    marks = chain([" (search)"], (f" (search {n})" for n in count(2)))
    paths = (folder_path((*outer, name[: MAX_NAME - len(mark)] + mark)) for mark in marks)
    return next(each for each in paths if each not in used)


def with_parents(lists: Iterable[EntryList]) -> list[EntryList]:
    """Return lists without duplicates, each preceded by its parents."""
    by_path = {each.path: each for each in lists}
    with_ancestors: dict[str, EntryList] = {}
    for path, each in by_path.items():
        for outer in folders_above(path):
            with_ancestors.setdefault(outer, by_path.get(outer, EntryList(outer)))
        with_ancestors.setdefault(path, each)
    return list(with_ancestors.values())


def with_more(
    lists: Iterable[EntryList], added: Sequence[EntryList]
) -> tuple[list[EntryList], list[EntryList]]:
    """Append lists to the known ones, except those whose path is known.

    Returns:
        All lists, and those of ``added`` that exceed ``MAX_LISTS`` or ``MAX_PATHS``.
    """
    all_by_path = {each.path: each for each in with_parents(lists)}
    first = {each.path: each for each in added}
    left_out: list[EntryList] = []
    room = MAX_PATHS
    for path, each in first.items():
        around = (first.get(outer, EntryList(outer)) for outer in folders_above(path))
        fresh = [one for one in (*around, each) if one.path not in all_by_path]
        length = sum(len(one.path) for one in fresh)
        if len(all_by_path) + len(fresh) > MAX_LISTS or length > room:
            left_out.append(each)
        else:
            all_by_path |= {one.path: one for one in fresh}
            room -= length
    return list(all_by_path.values()), left_out


def as_tree(lists: Sequence[EntryList]) -> list[EntryList]:
    """Sort lists in tree order: each after its parent, siblings in their given order."""
    below: dict[str, list[EntryList]] = {}
    for each in with_parents(lists):
        below.setdefault(folder_path(folder_names(each.path)[:-1]), []).append(each)
    tree: list[EntryList] = []
    waiting = below.get("", [])[::-1]
    while waiting:
        tree.append(waiting.pop())
        waiting += below.get(tree[-1].path, [])[::-1]
    return tree


def with_nested_counts(lists: Sequence[EntryList], twice: Mapping[str, int]) -> list[EntryList]:
    """Set ``nested_count`` of lists that have nested lists.

    Args:
        lists: lists with the number of entries, without those of nested lists.
        twice: result of ``duplicate_counts``.
    """
    totals: Counter[str] = Counter()
    outer: set[str] = set()
    for each in lists:
        if not each.query:
            above = folders_above(each.path)
            outer.update(above)
            totals.update(dict.fromkeys((*above, each.path), each.count or 0))
    return [
        replace(each, nested_count=max(totals[each.path] - twice.get(each.path, 0), 0))
        if each.path in outer and not each.query
        else each
        for each in lists
    ]


def duplicate_counts(members: Iterable[tuple[int, str]]) -> Counter[str]:
    """Return by path how many entries are counted twice in the sum of a list and its nested lists.

    An entry in three of these lists counts as two.

    ``members`` has (entry id, path) of entries in several lists, grouped by entry.
    """
    counts: Counter[str] = Counter()
    for _, rows in groupby(members, key=itemgetter(0)):
        reached = Counter(one for _, path in rows for one in (*folders_above(path), path))
        counts.update({path: count - 1 for path, count in reached.items() if count > 1})
    return counts


def placed(lists: Sequence[EntryList], path: str, before: str) -> list[EntryList]:
    """Move a list directly before its sibling ``before``.

    If there is no such list, it is moved after all its siblings.
    """
    tree = as_tree(lists)
    moved = next(each for each in tree if each.path == path)
    remaining = [each for each in tree if each.path != path]
    at = next((n for n, each in enumerate(remaining) if each.path == before), len(remaining))
    return as_tree([*remaining[:at], moved, *remaining[at:]])


def shifted(lists: Sequence[EntryList], path: str, *, down: bool) -> list[EntryList]:
    """Move a list one position up or down among its siblings."""
    tree = as_tree(lists)
    outer = folder_names(path)[:-1]
    siblings = [each.path for each in tree if folder_names(each.path)[:-1] == outer]
    if path not in siblings or (path == siblings[0] and not down):
        return tree
    at = siblings.index(path) + (2 if down else -1)
    return placed(tree, path, siblings[at] if at < len(siblings) else "")
