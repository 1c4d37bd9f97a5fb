r"""Folders around a link as one text: names with ``/`` between, the outermost first.

A ``/`` that is part of a name is written ``\/``, and a ``\`` is written ``\\``.
"""

import re
from collections.abc import Iterable, Sequence

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
