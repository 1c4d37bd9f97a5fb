"""View data of pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from archiver.errors import InvalidQuery
from archiver.model.annotation import Colour
from archiver.model.capture import Capture, Timestamp
from archiver.model.entry import Entry, Snapshot
from archiver.model.entry_list import EntryList
from archiver.model.feed import FollowedFeed
from archiver.model.imports import ImportStatus, Rejected
from archiver.model.job import Job
from archiver.model.listing import ListingQuery, Sort, Summary
from archiver.model.message import Message
from archiver.model.page import Heading, Side
from archiver.model.requisite import RequisiteOutcome
from archiver.search.query_fields import Language
from archiver.services.comparison import Compared
from archiver.services.crawl_status import Room, Work
from archiver.services.deletion import Deleted
from archiver.services.editing import Edited, TagInUse
from archiver.services.entries import EntryDetail, SavedAddress, SnapshotDetail
from archiver.services.fixity import LastCheck
from archiver.services.highlights import HighlightList
from archiver.services.home import OnDesk
from archiver.services.reader_view import PlacedHighlight
from archiver.services.search import Listing, Overview
from archiver.services.segment_uploads import Backlog


@dataclass(frozen=True, slots=True)
class Month:
    """What there is of a month: how many, and the newest; empty if there is nothing."""

    count: int
    newest: str


@dataclass(frozen=True, slots=True)
class Year:
    """What there is of a year by month."""

    name: str
    count: int
    months: tuple[Month, ...]


def calendar(timestamps: Iterable[str]) -> tuple[Year, ...]:
    """Timestamps of 14 digits, newest first, by year and month, the newest year first."""
    found: dict[str, dict[str, list[str]]] = {}
    for each in timestamps:
        months = found.setdefault(each[:4], {})
        months.setdefault(each[4:6], []).append(each)
    return tuple(
        Year(
            year,
            sum(map(len, months.values())),
            tuple(
                Month(len(some), some[0] if some else "")
                for n in range(1, 13)
                for some in [months.get(f"{n:02}", [])]
            ),
        )
        for year, months in found.items()
    )


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
    home_page: OnDesk
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


class _AfterAnAct:
    """A page that says what was done a moment ago: ``done`` is a word, and it may be a number."""

    __slots__ = ()
    done: str

    @property
    def outcome(self) -> str:
        """The word of ``done``."""
        return self.done.partition("-")[0]

    @property
    def count(self) -> int:
        """The number of ``done``; 0 where there is none."""
        digits = self.done.partition("-")[2]
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 12 else 0


@dataclass(frozen=True, slots=True)
class SaveAgainView:
    """Addresses that the person is asked about before they are captured.

    Attributes:
        tracked: with trackers in them, each with the address without.
        known: those of which there are snapshots.
        trackers: what was said of trackers before: ``drop``, ``keep`` or nothing.
        tags, title, note, render: as the form had them.
        saved: jobs of those that needed no question.
        rejected: addresses that can't be kept.
    """

    tracked: tuple[tuple[str, str], ...]
    known: tuple[SavedAddress, ...]
    trackers: str = ""
    tags: str = ""
    note: str = ""
    render: bool = False
    saved: tuple[Job, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    title: str = ""

    @property
    def page_title(self) -> Message:
        """What the page is called; ``title`` is what the person wants to call theirs."""
        return Message("Before this is saved")


@dataclass(frozen=True, slots=True)
class DeleteView:
    """What is to be thrown away, once the person says so.

    Attributes:
        keys: hash_urls of the entries; empty where it is all that a query finds.
        entries: the first of them.
        count, has_more: how many they are, or more than that.
        timestamp: of the only snapshot that is to go; empty if it is all.
        query: what finds them.
        back: the page that it was asked from.
        listed: the list that is shown where an entry was that is gone.
    """

    keys: tuple[str, ...]
    entries: tuple[Entry, ...]
    count: int = 1
    has_more: bool = False
    timestamp: str = ""
    query: ListingQuery | None = None
    back: str = ""
    listed: str = "/snapshots"
    title: str | Message = Message("Delete")

    @property
    def after(self) -> str:
        """The page to show afterwards: not that of an entry that is gone."""
        is_gone = not self.timestamp and any(self.back.startswith(f"/{key}") for key in self.keys)
        return self.listed if is_gone else self.back


@dataclass(frozen=True, slots=True)
class FeedsView(_AfterAnAct):
    """The feeds that are followed.

    Attributes:
        feeds: in the order they were taken up.
        interval: seconds between two looks.
        problem: why what was asked for was not done.
        given: the address that was asked for.
        is_other_form: whether what is there can be imported instead.
        done: what was done a moment ago: a word, and a number.
    """

    feeds: tuple[FollowedFeed, ...]
    interval: float
    problem: Message | str = ""
    given: str = ""
    is_other_form: bool = False
    done: str = ""
    title: str | Message = Message("Feeds")


@dataclass(frozen=True, slots=True)
class CrawlView(_AfterAnAct):
    """The work as it stands.

    Attributes:
        work: what is under way, who waits, what failed.
        room: what takes most of it on disk.
        settings: those in effect, by name.
        archives: hosts of public archives that may be asked for what is gone.
        backlog: what is not in the object store yet; None where there is none.
        checked: what reading everything back found last; None if nobody did.
        done: what was done a moment ago: a word and a number, or ``ask`` before all is cancelled.
    """

    work: Work
    room: Room
    settings: Mapping[str, str]
    archives: tuple[str, ...] = ()
    backlog: Backlog | None = None
    checked: LastCheck | None = None
    done: str = ""
    title: str | Message = Message("The crawl")
