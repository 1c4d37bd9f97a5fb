"""What the pages of an entry show: its article, and two snapshots held against each other."""

from dataclasses import dataclass

from archiver.model.comparison import Side
from archiver.model.entry import Entry, Snapshot
from archiver.model.highlight import Colour
from archiver.model.message import Message
from archiver.model.outline import Heading
from archiver.services.comparing import Compared
from archiver.services.entries import EntryDetail, SnapshotDetail
from archiver.services.reader import PlacedHighlight
from archiver.web.months import Year
from archiver.web.views import EditNotice


@dataclass(frozen=True, slots=True)
class BesideView:
    """The list that an entry was opened from, and what stands beside it there; empty if nothing."""

    list: str
    back: str
    before: str
    before_title: str
    behind: str
    behind_title: str


@dataclass(frozen=True, slots=True)
class RefusedEdit:
    """What a form of an entry held, as it was typed, and why it was not kept."""

    why: Message
    title: str
    tags: str
    lists: str
    note: str


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry to read.

    Attributes:
        detail: the entry and its snapshots.
        shown: the snapshot that is read; None if there is none.
        article: its article, images led into the archive.
        payload_url: where the capture itself is, for what is shown within this page.
        payload_link: the same, for a person to follow.
        kind: how it is shown: ``article``, ``image``, ``pdf``, ``unread``, ``file``,
            ``page`` (without text) or ``nothing``.
        minutes: how long it takes to read.
        is_outdated: an older version of the extractor has read it.
        outline: its headings, where there are enough for a table of contents.
        hits: how often words of the search that led here stand in it.
        beside: the list it was opened from.
        here: the page itself within that list; empty without one.
        highlights: what was marked in it.
        years: how many snapshots each month of each year has, and the newest of each.
        browser_problem: why no page is shown by a browser; None where one is.
        archives: hosts of public archives that may be asked for it.
        refused: what was typed into the form that changes it, and can't be kept as it is.
    """

    detail: EntryDetail
    shown: SnapshotDetail | None
    article: str
    payload_url: str
    payload_link: str
    kind: str
    minutes: int
    title: str
    is_outdated: bool = False
    outline: tuple[Heading, ...] = ()
    hits: int = 0
    beside: BesideView | None = None
    here: str = ""
    highlights: tuple[PlacedHighlight, ...] = ()
    colours: tuple[Colour, ...] = tuple(Colour)
    years: tuple[Year, ...] = ()
    browser_problem: Message | None = None
    archives: tuple[str, ...] = ()
    notice: EditNotice | None = None
    refused: RefusedEdit | None = None

    @property
    def entry(self) -> Entry:
        """The entry."""
        return self.detail.entry


@dataclass(frozen=True, slots=True)
class FoldedPiece:
    """A stretch of two texts; of one that is the same and long the middle can be unfolded."""

    side: Side
    text: str
    folded: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class AloneView:
    """An entry that has nothing to be compared: one snapshot, or none."""

    entry: Entry
    snapshots: tuple[Snapshot, ...]
    title: str | Message = Message("Nothing to compare yet")


@dataclass(frozen=True, slots=True)
class CompareView:
    """Two snapshots held against each other.

    Attributes:
        compared: what differs.
        snapshots: those to choose from.
        pieces: the texts as one.
        articles: both articles, to be shown side by side; empty where they are not.
    """

    compared: Compared
    snapshots: tuple[Snapshot, ...]
    pieces: tuple[FoldedPiece, ...]
    articles: tuple[str, ...]
    title: str
