"""What each page shows: a dataclass a page, which its template renders and nothing else."""

from dataclasses import dataclass, field

from archiver.errors import InvalidQuery
from archiver.model.capture import Capture, Timestamp
from archiver.model.entry import Entry, Snapshot
from archiver.model.entry_list import EntryList
from archiver.model.highlight import Colour
from archiver.model.importing import ImportStatus, Rejected
from archiver.model.job import Job
from archiver.model.listing import ListingQuery, Sort, Summary
from archiver.model.message import Message
from archiver.model.requisite import RequisiteOutcome
from archiver.services.deleting import Deleted
from archiver.services.desk import OnDesk
from archiver.services.editing import Edited
from archiver.services.entries import SnapshotDetail
from archiver.services.highlights import HighlightList
from archiver.services.language import Language
from archiver.services.search import Listing, Overview
from archiver.web.months import Year

SHOWN = 200
"""Characters of each piece of a search that was refused."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """What became of undoing a deletion.

    Attributes:
        count: how many entries, or snapshots of one, are there again.
        stayed: how many entries were not put back, since they were saved, or deleted, again.
        is_lost: it could not be undone any more.
    """

    count: int
    stayed: int
    is_lost: bool


@dataclass(frozen=True, slots=True)
class EditNotice:
    """What was changed a moment ago, and can be undone; or whether that was undone.

    Attributes:
        back: the page, for undoing to come back to.
        edited: what was changed.
        is_undone: whether any entry was put back; None where nothing was undone.
        deleted: what was thrown away.
        restored: what became of undoing that.
        is_nothing: nothing was ticked, so nothing was done.
    """

    back: str
    edited: Edited | None = None
    is_undone: bool | None = None
    deleted: Deleted | None = None
    restored: PutBack | None = None
    is_nothing: bool = False


@dataclass(frozen=True, slots=True)
class SideBar:
    """What stands beside a page.

    Attributes:
        lists: the first of them, each behind the one that it lies in.
        current: the one that the page shows.
        count: of all lists.
        is_whole: the page shows what lies in the lists in the current one, too.
    """

    lists: tuple[EntryList, ...] = ()
    current: EntryList | None = None
    count: int = 0
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class HomeView:
    """The form, what it was asked last, and what was saved last.

    Attributes:
        overview: the archive in numbers.
        desk: what is new, and what was saved on this day.
        listing: what was saved last, where nothing is new.
        running: imports that are not at their end.
        jobs: those of the form sent last, to be followed.
        rejected: addresses of that form that can't be kept; the form holds them again.
        tags: of that form.
        problem: why nothing of it could be used.
        here: the origin of the service, for whoever calls it from another page.
        can_render: whether a browser can show pages before they are kept.
        is_paused: whether somebody has paused the crawl.
    """

    overview: Overview
    desk: OnDesk
    listing: Listing | None = None
    running: tuple[ImportStatus, ...] = ()
    jobs: tuple[Job, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    tags: str = ""
    problem: Message | str = ""
    here: str = ""
    can_render: bool = False
    is_paused: bool = False
    title: str = "archiver"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a search can't be read, and the search before, at and behind the place.

    Attributes:
        message: a sentence.
        before, at, behind: pieces of the search.
        suggestion: the search that was probably meant; empty if nobody knows.
    """

    message: Message
    before: str
    at: str
    behind: str
    suggestion: str

    @classmethod
    def of(cls, q: str, error: InvalidQuery) -> "Refusal":
        """What to show of a search that was refused."""
        end = error.at + error.length
        before, at, behind = q[: error.at], q[error.at : end], q[end:]
        return cls(error.sentence, before[-SHOWN:], at[:SHOWN], behind[:SHOWN], error.suggestion)


@dataclass(frozen=True, slots=True)
class SaveView:
    """A page that is offered from elsewhere, before it is saved.

    Attributes:
        url, given_title, tags: as they were offered.
        known: its entry, if there is one.
        twins: those of other addresses of the same page, where there is none of this.
    """

    url: str
    given_title: str
    tags: str
    known: Entry | None = None
    twins: tuple[Entry, ...] = ()
    title: str | Message = Message("Save a page")


@dataclass(frozen=True, slots=True)
class StepView:
    """A step within this site, for whoever comes from another one.

    Attributes:
        onward: the path that was asked for.
    """

    onward: str
    title: str | Message = Message("One moment")


@dataclass(frozen=True, slots=True)
class ListingView:
    """A page of entries, and how it is narrowed.

    Attributes:
        query: what was asked.
        listing: what was found.
        next_url: of the next page; empty if there is none.
        back_url: of the page before, or the first one; empty on that.
        start: how many entries stand before this page; None where nobody knows.
        tags: those used most, with their numbers.
        export_query: what the downloads are narrowed by.
        list_query: what says which page of which list this is, for an entry to be opened from it.
        summary: of the whole list.
        is_narrowed: it is not that of everything.
        refusal: why the search can't be read, if it can't.
        owed_percent: how much of the archive is not to be found by words yet.
        sorts: what may come first, in words.
        archives: hosts of public archives that may be asked, where the list is of what failed.
        address: what was searched for, if it may be meant as the address of a page.
    """

    query: ListingQuery
    listing: Listing
    next_url: str = ""
    back_url: str = ""
    start: int | None = 0
    tags: tuple[tuple[str, int], ...] = ()
    export_query: str = ""
    list_query: str = ""
    summary: Summary = field(default_factory=lambda: Summary(0, has_more=False))
    is_narrowed: bool = True
    refusal: Refusal | None = None
    owed_percent: int = 0
    sorts: tuple[Sort, ...] = tuple(Sort)
    here: str = "/snapshots"
    notice: EditNotice | None = None
    side: SideBar = SideBar()
    archives: tuple[str, ...] = ()
    address: str = ""
    title: str | Message = Message("Browse")


@dataclass(frozen=True, slots=True)
class HighlightsView:
    """What was marked, and the search that it is narrowed by."""

    q: str
    found: HighlightList
    next_url: str = ""
    refusal: Refusal | None = None
    notice: EditNotice | None = None
    colours: tuple[Colour, ...] = tuple(Colour)
    title: str | Message = Message("Highlights")


@dataclass(frozen=True, slots=True)
class SearchHelpView:
    """How to search."""

    language: Language
    title: str | Message = Message("How to search")


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """One snapshot as it looked: our banner, and the address of the frame.

    Attributes:
        marks: on the timeline of the entry's snapshots: where (0 to 1000), and which.
        missing: what the page needed and the archive lacks.
        is_pdf: whether it is one; browsers show none in a sandboxed frame.
        banner: its number, by which it is told what its frame shows.
    """

    entry: Entry
    snapshot: Snapshot
    detail: SnapshotDetail
    frame_url: str
    title: str
    marks: tuple[tuple[int, Timestamp], ...]
    missing: tuple[RequisiteOutcome, ...]
    is_pdf: bool = False
    banner: str = ""


@dataclass(frozen=True, slots=True)
class ErrorView:
    """What went wrong, and what to do."""

    status: int
    message: Message
    title: Message


@dataclass(frozen=True, slots=True)
class AbsentView:
    """A page that was never captured."""

    url: str
    can_capture: bool
    is_framed: bool = False
    home: str = ""
    title: str | Message = Message("Not in the archive")


@dataclass(frozen=True, slots=True)
class PassageView:
    """The step between a page that may show nothing but itself and another one.

    Attributes:
        url: of the page that is asked for.
        onward: where a person who is signed in sees it; empty where that is not known.
        by_itself: where a page that stands alone goes at once.
    """

    url: str
    onward: str
    by_itself: str
    title: str | Message = Message("Another page of the archive")


@dataclass(frozen=True, slots=True)
class CapturesView:
    """Every capture of a URL, by the months that it was captured in, too."""

    url: str
    captures: tuple[Capture, ...] = ()
    years: tuple[Year, ...] = ()
    title: str | Message = Message("Captures")
