r"""Lists of entries and folder paths.

A ``/`` that is part of a name is written ``\/``, and a ``\`` is written ``\\``.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, count, groupby
from operator import itemgetter

MOST_DEPTH = 64
MOST_NAME = 200
"""Characters kept of a folder's name."""
MOST_REMEMBERED = 1_000
_SPECIAL = re.compile(r"([\\/])")
_NAME = re.compile(r"(?:[^\\/]|\\.?)+")
_ESCAPED = re.compile(r"\\(.)")


def folder_path(names: Iterable[str]) -> str:
    r"""Names of folders as one text; empty names are left out.

    >>> folder_path(["Recipes", "Soups/Stews"])
    'Recipes/Soups\\/Stews'
    """
    tidy = (" ".join(name.split())[:MOST_NAME] for name in names)
    some = [_SPECIAL.sub(r"\\\1", name) for name in tidy if name]
    return "/".join(some[:MOST_DEPTH])


def folder_names(path: str) -> tuple[str, ...]:
    """The names that ``folder_path`` made a text of."""
    return tuple(_ESCAPED.sub(r"\1", name) for name in _NAME.findall(path))


def tidy_path(path: str) -> str:
    r"""A path as somebody wrote it, in the one form it has.

    >>> tidy_path(" Recipes / Soups/")
    'Recipes/Soups'
    """
    return folder_path(folder_names(path))


def is_short(paths: Sequence[str]) -> bool:
    """Whether what is worked out of these may be remembered: in thousands they take few MB."""
    return sum(map(len, paths)) + len(paths) <= MOST_REMEMBERED


def folders_above(path: str) -> tuple[str, ...]:
    """The paths of the folders that one lies in, the outermost first.

    >>> folders_above("Recipes/Soups/Stews")
    ('Recipes', 'Recipes/Soups')
    """
    names = folder_names(path)
    return tuple(folder_path(names[:depth]) for depth in range(1, len(names)))


MOST_PLACE = 1 << 61
"""No place in a list is higher, so that there is room behind it."""
MOST_LISTS = 5_000
"""Lists that are shown and put in order; what lies in more of them is kept all the same."""
MOST_PATHS = 1 << 20
"""Characters of the paths of lists that a file brings, with those that they lie in."""
_QUOTES = dict.fromkeys(map(ord, '"\u201c\u201d\u201e\u00ab\u00bb'))


@dataclass(frozen=True, slots=True)
class EntryList:
    """A list: of entries that were put into it, or of all that a search finds.

    Attributes:
        path: its name behind those of the lists it lies in, as ``model.folder_path`` writes it.
        query: the search that is saved under this name; empty for a list made by hand.
        count: entries that lie in it, or that the search finds; None where nobody counted yet.
        is_more: there are more than were counted.
        beneath: entries that lie in it or in a list in it, each once; None for one that has no
            lists in it.
    """

    path: str
    query: str = ""
    count: int | None = None
    is_more: bool = False
    beneath: int | None = None

    @property
    def asks_all(self) -> str:
        """The query that shows what lies in it and in the lists in it."""
        return f'list:"{unquoted(self.path)}/"'

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
class ListsInFile:
    """Lists that a file tells of, entries or not.

    Attributes:
        found: in order.
        left_out: how many more there are, of which there are too many.
    """

    found: tuple[EntryList, ...] = ()
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.found or self.left_out)

    def with_more(self, other: "ListsInFile") -> "ListsInFile":
        """Those of two parts of a file."""
        if not other:
            return self
        return ListsInFile((*self.found, *other.found), self.left_out + other.left_out)


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


def beside(path: str, taken: Collection[str]) -> str:
    """What a saved search is called once its path is that of a list: one that is not taken.

    >>> beside("Food/Soups", {"Food/Soups (search)"})
    'Food/Soups (search 2)'
    """
    *outer, name = folder_names(path)
    marks = chain([" (search)"], (f" (search {n})" for n in count(2)))
    paths = (folder_path((*outer, name[: MOST_NAME - len(mark)] + mark)) for mark in marks)
    return next(each for each in paths if each not in taken)


def with_parents(lists: Iterable[EntryList]) -> list[EntryList]:
    """Each once, and before each those that it lies in."""
    given = {each.path: each for each in lists}
    found: dict[str, EntryList] = {}
    for path, each in given.items():
        for outer in folders_above(path):
            found.setdefault(outer, given.get(outer, EntryList(outer)))
        found.setdefault(path, each)
    return list(found.values())


def with_more(
    known: Iterable[EntryList], given: Sequence[EntryList]
) -> tuple[list[EntryList], list[EntryList]]:
    """Known lists, and behind them those given, as many as may be; and those there is no room for.

    Who has a path keeps what it is there.
    """
    found = {each.path: each for each in with_parents(known)}
    first = {each.path: each for each in given}
    left_out: list[EntryList] = []
    room = MOST_PATHS
    for path, each in first.items():
        around = (first.get(outer, EntryList(outer)) for outer in folders_above(path))
        fresh = [one for one in (*around, each) if one.path not in found]
        length = sum(len(one.path) for one in fresh)
        if len(found) + len(fresh) > MOST_LISTS or length > room:
            left_out.append(each)
        else:
            found |= {one.path: one for one in fresh}
            room -= length
    return list(found.values()), left_out


def as_tree(lists: Sequence[EntryList]) -> list[EntryList]:
    """The same, each behind the one that it lies in; those side by side in their order."""
    below: dict[str, list[EntryList]] = {}
    for each in with_parents(lists):
        below.setdefault(folder_path(folder_names(each.path)[:-1]), []).append(each)
    found: list[EntryList] = []
    waiting = below.get("", [])[::-1]
    while waiting:
        found.append(waiting.pop())
        waiting += below.get(found[-1].path, [])[::-1]
    return found


def with_nested_counts(lists: Sequence[EntryList], twice: Mapping[str, int]) -> list[EntryList]:
    """The same, where those that have lists in them say what lies beneath.

    Args:
        lists: each with the number of its own entries.
        twice: as ``duplicate_counts`` gives it.
    """
    totals: Counter[str] = Counter()
    outer: set[str] = set()
    for each in lists:
        if not each.query:
            above = folders_above(each.path)
            outer.update(above)
            totals.update(dict.fromkeys((*above, each.path), each.count or 0))
    return [
        replace(each, beneath=max(totals[each.path] - twice.get(each.path, 0), 0))
        if each.path in outer and not each.query
        else each
        for each in lists
    ]


def duplicate_counts(lying: Iterable[tuple[int, str]]) -> Counter[str]:
    """How often adding up what lies in and beneath a list counts an entry more than once.

    ``lying``: (entry, path of a list), of entries that lie in several lists, each entry's together.
    """
    found: Counter[str] = Counter()
    for _, rows in groupby(lying, key=itemgetter(0)):
        reached = Counter(one for _, path in rows for one in (*folders_above(path), path))
        found.update({path: count - 1 for path, count in reached.items() if count > 1})
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
