"""Rows of a statement that ``sqlite3`` ran, as far as the index uses those of SQLAlchemy."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from archiver import light


class LightRow(tuple[Any, ...]):
    """A row: a tuple whose values have names, too."""

    __slots__ = ()


@lru_cache(256)
def row_of(names: tuple[str, ...]) -> type[LightRow]:
    """The kind of the rows that have these columns; a name that two have is nobody's."""
    own = {
        name: property(itemgetter(place))
        for place, name in enumerate(names)
        if names.count(name) == 1
    }
    return type("LightRow", (LightRow,), {"__slots__": (), "names": names, **own})


class LightResult:
    """All rows of a statement, each given out once."""

    returns_rows = True
    cursor = None

    def __init__(self, names: tuple[str, ...], rows: Sequence[Any]) -> None:
        self._names = names
        self._rows = iter(rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def all(self) -> list[Any]:
        """What is left."""
        return list(self._rows)

    def first(self) -> Any:
        """The first; None if there is none."""
        return next(self._rows, None)

    def one_or_none(self) -> Any:
        """The only one, if there is one."""
        found = self.first()
        if next(self._rows, None) is not None:
            light.give_up("there are more rows than one")
        return found

    def one(self) -> Any:
        """The only one."""
        if (found := self.one_or_none()) is None:
            light.give_up("there is no row")
        return found

    def scalars(self) -> "LightScalars":
        """The first value of each."""
        return LightScalars(self._names, [row[0] for row in self._rows])

    def scalar(self) -> Any:
        """The first value of the first; None if there is none."""
        found = self.first()
        return None if found is None else found[0]

    def scalar_one(self) -> Any:
        """The first value of the only one."""
        return self.one()[0]

    def scalar_one_or_none(self) -> Any:
        """The first value of the only one, if there is one."""
        found = self.one_or_none()
        return None if found is None else found[0]

    def mappings(self) -> "LightResult":
        """Each as a dictionary."""
        names = self._names
        return LightResult(names, [dict(zip(names, row, strict=True)) for row in self._rows])

    def keys(self) -> Sequence[str]:
        """The names of the columns."""
        return self._names

    def close(self) -> None:
        """Give out no more."""
        self._rows = iter(())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        light.give_up(f"{name} of a result is wanted")


class LightScalars:
    """Values, each given out once."""

    def __init__(self, names: tuple[str, ...], values: Sequence[Any]) -> None:
        self._values = iter(values)
        self._names = names

    def __iter__(self) -> Iterator[Any]:
        return self._values

    def all(self) -> list[Any]:
        """What is left."""
        return list(self._values)

    def first(self) -> Any:
        """The first; None if there is none."""
        return next(self._values, None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        light.give_up(f"{name} of values is wanted")
