"""A bookmark: one row of an import, before it is known whether its URL can be used."""

from dataclasses import dataclass

from archiver.model.annotation import Annotation


@dataclass(frozen=True, slots=True)
class Bookmark:
    """What a file says of one link; ``annotation.url_given`` is the URL as it stood there."""

    annotation: Annotation
