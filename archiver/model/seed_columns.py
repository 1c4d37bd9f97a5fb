"""Seeds of a file as columns: thousands of them without an object for each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import chain, compress
from typing import Any, overload

from archiver.model.annotation import Annotation
from archiver.model.capture import HashUrl
from archiver.model.seed import Seed

ANNOTATION_FIELDS = tuple(each.name for each in fields(Annotation))
"""The fields of an annotation, in order."""


@dataclass(frozen=True, slots=True)
class SeedColumns(Sequence[Seed]):
    """Seeds, each made when it is asked for.

    Attributes:
        keys, urls, hosts: of each.
        annotations: by the field of an annotation, in order, what it is for each: moments as Unix
            seconds, and lists in the place of tuples; all else as an annotation has it.
    """

    keys: Sequence[str]
    urls: Sequence[str]
    hosts: Sequence[str]
    annotations: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, seeds: Sequence[Seed]) -> "SeedColumns":
        """The columns of seeds."""
        annotations = {
            name: [getattr(each.annotation, name) for each in seeds] for name in ANNOTATION_FIELDS
        }
        annotations["added_at"] = [
            each and int(each.timestamp() // 1) for each in annotations["added_at"]
        ]
        keys = [each.hash_url for each in seeds]
        return cls(keys, [each.url for each in seeds], [each.host for each in seeds], annotations)

    @classmethod
    def joined(cls, parts: "Sequence[SeedColumns]") -> "SeedColumns":
        """All seeds of some columns, in order."""
        if len(parts) == 1:
            return parts[0]
        keys, urls, hosts = (
            [*chain.from_iterable(each)]
            for each in zip(*((part.keys, part.urls, part.hosts) for part in parts), strict=True)
        )
        annotations = {
            name: [*chain.from_iterable(part.annotations[name] for part in parts)]
            for name in ANNOTATION_FIELDS
        }
        return cls(keys, urls, hosts, annotations)

    def where(self, chosen: Sequence[bool]) -> "SeedColumns":
        """Those that are chosen."""
        if all(chosen):
            return self
        some = {name: [*compress(column, chosen)] for name, column in self.annotations.items()}
        address = (self.keys, self.urls, self.hosts)
        keys, urls, hosts = ([*compress(each, chosen)] for each in address)
        return SeedColumns(keys, urls, hosts, some)

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, place: int) -> Seed: ...

    @overload
    def __getitem__(self, place: slice) -> list[Seed]: ...

    def __getitem__(self, place: int | slice) -> Seed | list[Seed]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        annotations = [
            _READERS[name](column[place]) if name in _READERS else column[place]
            for name, column in self.annotations.items()
        ]
        key = HashUrl(self.keys[place])
        return Seed(key, self.urls[place], self.hosts[place], Annotation(*annotations))

    def __iter__(self) -> Iterator[Seed]:
        return map(self.__getitem__, range(len(self)))


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "added_at": _moment,
    "tags": tuple,
    "folders": tuple,
    "places": tuple,
    "highlights": tuple,
}
