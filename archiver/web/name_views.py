"""What the pages of lists and of tags show, where names are given and changed."""

from archiver.model.entry_list import EntryList
from archiver.model.message import Message
from archiver.services.editing import TagInUse
from archiver.values import frozen
from archiver.web.views import EditNotice


@frozen
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


@frozen
class ListsView:
    """Every list, to be changed."""

    lists: tuple[EntryList, ...]
    notice: EditNotice | None = None
    refused: Refused | None = None
    title: str | Message = Message("Lists")


@frozen
class TagsView:
    """The tags in use."""

    tags: tuple[TagInUse, ...]
    notice: EditNotice | None = None
    refused: Refused | None = None
    title: str | Message = Message("Tags")
