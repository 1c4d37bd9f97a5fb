"""What pages show where names are given and changed, and what was refused of that."""

from collections.abc import Mapping
from dataclasses import dataclass

from archiver.model.entry_list import EntryList
from archiver.model.message import Message
from archiver.services.editing import TagInUse
from archiver.web.views import EditNotice


@dataclass(frozen=True, slots=True)
class Refused:
    """A form that was not obeyed, which is shown again as it was filled in.

    Attributes:
        why: what is wrong with it.
        of: what it was to change, by its name; empty where it was to make something.
        given: the name that it gave.
        query: the search that it was to keep under that.
    """

    why: Message
    of: str
    given: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class ListsView:
    """Every list, to be changed."""

    lists: tuple[EntryList, ...]
    notice: EditNotice | None = None
    refused: Refused | None = None
    title: str | Message = Message("Lists")


@dataclass(frozen=True, slots=True)
class TagsView:
    """The tags in use."""

    tags: tuple[TagInUse, ...]
    notice: EditNotice | None = None
    refused: Refused | None = None
    title: str | Message = Message("Tags")


@dataclass(frozen=True, slots=True)
class EditAgainView:
    """A change of several entries that can't be made, to be sent again.

    Attributes:
        why: what is wrong with it.
        typed: what was filled in, by the names of the fields.
        meant: which entries it is of, as fields of the form, and where that leads.
        back: the list it came from.
    """

    why: Message
    typed: Mapping[str, str]
    meant: tuple[tuple[str, str], ...]
    back: str
    title: str | Message = Message("Nothing was changed yet")
