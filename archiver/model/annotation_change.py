"""A change of what a person says of entries: only what it names becomes another."""

from dataclasses import dataclass, replace

from archiver.model.annotation import Annotation


@dataclass(frozen=True, slots=True)
class AnnotationChange:
    """What becomes of an annotation; None and empty leave it as it is.

    Attributes:
        title: in the place of the person's title; empty gives the page's own back.
        note: in the place of the note.
        tags: in the place of all tags.
        with_tags: tags that it gets.
        without_tags: tags that it loses, whatever else gives them.
        lists: paths of lists, in the place of all that it lies in.
        with_lists: paths of lists that it is put into, last.
        without_lists: paths of lists that it is taken out of, whatever else puts it there.
        is_read, is_starred: whether it is so from now on.
    """

    title: str | None = None
    note: str | None = None
    tags: tuple[str, ...] | None = None
    with_tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    lists: tuple[str, ...] | None = None
    with_lists: tuple[str, ...] = ()
    without_lists: tuple[str, ...] = ()
    is_read: bool | None = None
    is_starred: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing would become another."""
        return self == AnnotationChange()

    def applied(self, annotation: Annotation) -> Annotation:
        """The annotation afterwards; tags in order, without duplicates."""
        tags = annotation.tags if self.tags is None else self.tags
        lost = frozenset(self.without_tags)
        kept = (each for each in (*tags, *self.with_tags) if each not in lost)
        changed = replace(
            annotation,
            title=_or(self.title, annotation.title),
            note=_or(self.note, annotation.note),
            tags=tuple(dict.fromkeys(kept)),
            is_read=annotation.is_read if self.is_read is None else self.is_read,
            is_starred=annotation.is_starred if self.is_starred is None else self.is_starred,
        )
        held = annotation.lists
        wanted = (*(held if self.lists is None else self.lists), *self.with_lists)
        gone = frozenset(self.without_lists)
        return changed.in_lists({each: held.get(each, 0) for each in wanted if each not in gone})


def _or(wanted: str | None, present: str) -> str:
    return present if wanted is None else wanted
