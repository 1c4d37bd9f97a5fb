"""View data of pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from archiver.config import NO_RULE, SiteRule
from archiver.errors import InvalidQuery
from archiver.model.capture import Capture, Timestamp
from archiver.model.deletion import BinnedItem
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
from archiver.services.compaction import BackgroundMaintenance
from archiver.services.comparison import SnapshotDifference
from archiver.services.crawling import CrawlState, StorageUsage
from archiver.services.deletion import Deleted
from archiver.services.editing import Edited, TagInUse
from archiver.services.entries import EntryDetail, SavedAddress, SnapshotDetail
from archiver.services.feeds import FeedContent
from archiver.services.fixity import LastCheck
from archiver.services.highlights import HighlightList
from archiver.services.home import HomePageContent
from archiver.services.preferences import Preference
from archiver.services.reader_view import PlacedHighlight, ReadingPlace
from archiver.services.search import Listing, Overview
from archiver.services.segment_uploads import Backlog


@dataclass(frozen=True, slots=True)
class Month:
    """The captures of a month: their number, and the newest timestamp or an empty string."""

    count: int
    newest: str


@dataclass(frozen=True, slots=True)
class Year:
    """The captures of a year by month."""

    name: str
    count: int
    months: tuple[Month, ...]


def calendar(timestamps: Iterable[str]) -> tuple[Year, ...]:
    """Group 14-digit timestamps (newest first) by year and month, newest year first."""
    by_year: dict[str, dict[str, list[str]]] = {}
    for each in timestamps:
        months = by_year.setdefault(each[:4], {})
        months.setdefault(each[4:6], []).append(each)
    return tuple(
        Year(
            year,
            sum(map(len, months.values())),
            tuple(
                Month(len(days), days[0] if days else "")
                for n in range(1, 13)
                for days in [months.get(f"{n:02}", [])]
            ),
        )
        for year, months in by_year.items()
    )


SHOWN = 200
"""Maximum number of characters shown of each part of an invalid search."""


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """Result of undoing a deletion.

    Attributes:
        count: number of restored entries, or of restored snapshots of one entry.
        not_restored: number of entries that were not restored, because they were saved or
            deleted again.
        is_lost: whether the deletion can no longer be undone.
    """

    count: int
    not_restored: int
    is_lost: bool


@dataclass(frozen=True, slots=True)
class EditNotice:
    """Notice about the last change, which can be undone, or about its undo.

    Attributes:
        back: the page to return to after the undo.
        edited: changed entries.
        is_undone: whether the undo changed any entry; None if this is not about an undo.
        deleted: deleted entries.
        restored: result of undoing a deletion.
        is_nothing: whether nothing was changed because no entry was selected.
        queued: number of pages queued again.
        rescued: number of pages requested from public archives.
    """

    back: str
    edited: Edited | None = None
    is_undone: bool | None = None
    deleted: Deleted | None = None
    restored: RestoreResult | None = None
    is_nothing: bool = False
    queued: int = 0
    rescued: int = 0


@dataclass(frozen=True, slots=True)
class SideBar:
    """Data of the navigation at the side.

    Attributes:
        lists: the first lists, in depth-first order.
        current: the list that the page shows.
        count: number of all lists.
        is_whole: whether the page also shows the entries of nested lists.
        tags: the most used tags, with their number of entries.
        unread: number of unread entries.
        current_url: the path of the page, with its search as a parameter.
        can_render: whether a browser can render pages.
    """

    lists: tuple[EntryList, ...] = ()
    current: EntryList | None = None
    count: int = 0
    is_whole: bool = False
    tags: tuple[tuple[str, int], ...] = ()
    unread: int = 0
    current_url: str = ""
    can_render: bool = False


@dataclass(frozen=True, slots=True)
class ProgressView:
    """The progress of the crawl, as a part of a page."""

    title: str = ""


@dataclass(frozen=True, slots=True)
class BinView:
    """Deleted entries and snapshots.

    Attributes:
        items: the items that were deleted last, most recently deleted first.
        more: number of other deleted items.
        days: days until deleted items are erased; 0 to erase them in the next compaction.
        upkeep: tasks, one of which erases everything.
        notice: notice about the last restoration.
        asks: whether to ask for confirmation before everything is erased.
        was_emptied: whether to show the result of the last erasure.
    """

    items: tuple[BinnedItem, ...]
    more: int
    days: int
    upkeep: BackgroundMaintenance
    notice: EditNotice | None = None
    asks: bool = False
    was_emptied: bool = False
    title: str | Message = Message("Bin")


@dataclass(frozen=True, slots=True)
class Site:
    """Rule of a host, and the number of its cookies."""

    host: str = ""
    rule: SiteRule = NO_RULE
    cookies: int = 0


@dataclass(frozen=True, slots=True)
class SitesView:
    """Rules and cookies of sites.

    Attributes:
        sites: sites that have a rule or cookies.
        edited: site in the form; without host for a new one.
        is_known: whether the site in the form has a rule or cookies.
        problem: why a change was refused.
        reasons: why each value is invalid, by its name.
        is_saved: whether a change was just stored.
        named_port: whether the host was entered with a port, which rules ignore.
    """

    sites: tuple[Site, ...]
    edited: Site
    is_known: bool
    problem: Message | str = ""
    reasons: Mapping[str, Message | str] = field(default_factory=dict)
    is_saved: bool = False
    named_port: bool = False
    title: str | Message = Message("Sites")


@dataclass(frozen=True, slots=True)
class SettingsView:
    """A section of the settings, or the form in it.

    Attributes:
        section: name of the section.
        preferences: its settings by name.
        origin, key: origin of the service, and the signature by which the user's own bookmarklet
            identifies itself.
        problem: why a change was refused.
        reasons: why each value is invalid, by the name of the setting.
        is_saved: whether a change was just stored.
        typed: values of a refused change, which the form shows again.
    """

    section: str
    preferences: Mapping[str, Preference]
    origin: str
    key: str
    problem: Message | str = ""
    reasons: Mapping[str, Message | str] = field(default_factory=dict)
    is_saved: bool = False
    typed: Mapping[str, str] = field(default_factory=dict)
    title: str | Message = Message("Settings")


@dataclass(frozen=True, slots=True)
class MaintenanceView:
    """Maintenance tasks, storage and backup.

    Attributes:
        upkeep: the tasks.
        checked: result of the last verification; None if there was none.
        storage: largest users of storage.
        free_bytes: free bytes on the disk.
        bin_days, quiet_hour: the settings in use.
        data: path of the data directory.
        form: form that changes the settings.
    """

    upkeep: BackgroundMaintenance
    checked: LastCheck | None
    storage: StorageUsage
    free_bytes: int
    bin_days: int
    quiet_hour: int
    data: str
    form: SettingsView
    title: str | Message = Message("Maintenance")


@dataclass(frozen=True, slots=True)
class ComponentsView:
    """The page of the design system."""

    title: str | Message = "Components"


@dataclass(frozen=True, slots=True)
class HomeView:
    """Data of the home page.

    Attributes:
        overview: statistics of the archive.
        home_page: new entries, and entries saved on this day in earlier years.
        listing: the latest entries; None if ``home_page`` has new entries that did not fail.
        running: unfinished imports.
        jobs: jobs of the last submitted form, whose progress is shown.
        rejected: invalid URLs of the last submitted form, shown in the form again.
        tags: tags of the last submitted form, if it is shown again.
        problem: why nothing in the last submitted form could be saved.
        origin, key: origin of the service, and the signature by which the user's own bookmarklet
            identifies itself.
        is_paused: whether the crawl is paused.
        cleaned: submitted addresses from which tracking parameters were removed.
        warnings: problems of the archive: missing segments, a full disk, damage.
        archives: hosts of public archives from which failed pages can be requested.
        reading: partly read entries, and the reading position in each.
    """

    overview: Overview
    home_page: HomePageContent
    listing: Listing | None = None
    running: tuple[ImportStatus, ...] = ()
    jobs: tuple[Job, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    tags: str = ""
    problem: Message | str = ""
    origin: str = ""
    key: str = ""
    is_paused: bool = False
    cleaned: tuple[str, ...] = ()
    warnings: tuple[Message, ...] = ()
    archives: tuple[str, ...] = ()
    notice: EditNotice | None = None
    reading: tuple[tuple[Entry, ReadingPlace], ...] = ()
    title: str = "archiver"


@dataclass(frozen=True, slots=True)
class SearchError:
    """An invalid search, split at the position of the error.

    Attributes:
        message: the error.
        before, at, after: the search before, at and after the error.
        suggestion: a corrected search; empty for none.
    """

    message: Message
    before: str
    at: str
    after: str
    suggestion: str

    @classmethod
    def of(cls, q: str, error: InvalidQuery) -> "SearchError":
        """Return the view of an invalid search."""
        end = error.at + error.length
        before, at, after = q[: error.at], q[error.at : end], q[end:]
        return cls(error.sentence, before[-SHOWN:], at[:SHOWN], after[:SHOWN], error.suggestion)


@dataclass(frozen=True, slots=True)
class SaveView:
    """A page offered by a bookmarklet or app, before it is saved.

    Attributes:
        url, given_title: sent by the bookmarklet or app.
        tags: sent by the bookmarklet or app, or the tags of ``instead``.
        known: the entry of the URL, if there is one.
        duplicates: entries with another URL of the same page, if the URL has no entry.
        note, lists: note and lists of ``instead``; empty for a new page.
        instead: the failed entry whose URL the user corrects; None for a new page.
    """

    url: str
    given_title: str
    tags: str
    known: Entry | None = None
    duplicates: tuple[Entry, ...] = ()
    note: str = ""
    lists: str = ""
    instead: Entry | None = None
    title: str | Message = Message("Save a page")


@dataclass(frozen=True, slots=True)
class SaveWindowView:
    """Small window of the bookmarklet: a page to save, or the entry after it is saved.

    Attributes:
        url: URL of the page.
        entry: entry of the page; None before the page is saved.
        is_known: whether the page was saved before.
    """

    url: str
    entry: Entry | None = None
    is_known: bool = False
    title: str | Message = Message("Save a page")


@dataclass(frozen=True, slots=True)
class StepView:
    """Intermediate page after a link from another site.

    Attributes:
        onward: the requested path.
    """

    onward: str
    title: str | Message = Message("One moment")


@dataclass(frozen=True, slots=True)
class ListingView:
    """A page of entries, and its filters.

    Attributes:
        query: the search.
        listing: the results on this page.
        next_url: URL of the next page; empty for none.
        back_url: URL of the previous page, or of the first page if unknown; empty on the first.
        start: number of entries before this page; None if unknown.
        tags: most frequent tags, with counts.
        export_query: query string for exports.
        list_query: query string of this page of the list, for links to entries.
        summary: number of entries and facets of the whole list.
        is_narrowed: whether a search or a filter is set.
        refusal: why the search is invalid; None if it is valid.
        sorts: sort orders to choose from.
        archives: hosts of the public archives in use.
        address: the search text if it looks like the URL of a page; else empty.
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
    refusal: SearchError | None = None
    sorts: tuple[Sort, ...] = tuple(Sort)
    current_url: str = "/snapshots"
    notice: EditNotice | None = None
    side: SideBar = SideBar()
    archives: tuple[str, ...] = ()
    address: str = ""
    title: str | Message = Message("Browse")


@dataclass(frozen=True, slots=True)
class HighlightsView:
    """Highlights, and the search that filters them."""

    q: str
    found: HighlightList
    next_url: str = ""
    refusal: SearchError | None = None
    notice: EditNotice | None = None
    title: str | Message = Message("Highlights")


@dataclass(frozen=True, slots=True)
class SearchHelpView:
    """Data of the search help."""

    language: Language
    title: str | Message = Message("Search syntax")


@dataclass(frozen=True, slots=True)
class ApiView:
    """Data of the page about the API.

    Attributes:
        origin: scheme, host and base path of this service.
        needs_token: whether requests need a token.
        operations: method, path and English description.
    """

    origin: str
    needs_token: bool
    operations: tuple[tuple[str, str, str], ...]
    title: str | Message = Message("API")


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """A snapshot in a frame below the banner.

    Attributes:
        timestamps: timestamps of the entry's snapshots, newest first.
        missing: page requisites that are not archived.
        is_pdf: whether the page is a PDF, which browsers do not show in a sandboxed frame.
        banner: number of the banner, which identifies its frame.
    """

    entry: Entry
    snapshot: Snapshot
    detail: SnapshotDetail
    frame_url: str
    title: str
    timestamps: tuple[Timestamp, ...]
    missing: tuple[RequisiteOutcome, ...]
    is_pdf: bool = False
    banner: str = ""


@dataclass(frozen=True, slots=True)
class ErrorView:
    """An error, and what to do about it."""

    status: int
    message: Message
    title: Message
    is_in_bin: bool = False


@dataclass(frozen=True, slots=True)
class NotArchivedView:
    """A URL without captures.

    Attributes:
        url: the URL.
        can_capture: whether the URL can be captured.
        is_framed: whether the page is in the frame below a replay banner.
        home: origin of the service, if replay has a separate origin.
    """

    url: str
    can_capture: bool
    is_framed: bool = False
    home: str = ""
    title: str | Message = Message("Not in the archive")


@dataclass(frozen=True, slots=True)
class ContinueView:
    """Intermediate page after a link in a replayed page, whose token does not open the linked page.

    Attributes:
        url: URL of the requested page.
        onward: address of the page for a signed-in user; empty if unknown.
        by_itself: address of an automatic redirect; empty if the page is in a frame.
    """

    url: str
    onward: str
    by_itself: str
    title: str | Message = Message("Another page in the archive")


@dataclass(frozen=True, slots=True)
class CapturesView:
    """All captures of a URL, also grouped by month."""

    url: str
    captures: tuple[Capture, ...] = ()
    years: tuple[Year, ...] = ()
    title: str | Message = Message("Captures")


@dataclass(frozen=True, slots=True)
class RejectedForm:
    """A rejected form, shown again with its values.

    Attributes:
        why: the error.
        of: name of the list or tag to change; empty for a new one.
        given: the new name as submitted.
        query: the search to save under the new name.
    """

    why: Message
    of: str
    given: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class ListsView:
    """Data of the page of lists."""

    lists: tuple[EntryList, ...]
    notice: EditNotice | None = None
    refused: RejectedForm | None = None
    title: str | Message = Message("Lists")


@dataclass(frozen=True, slots=True)
class TagsView:
    """The tags in use."""

    tags: tuple[TagInUse, ...]
    notice: EditNotice | None = None
    refused: RejectedForm | None = None
    title: str | Message = Message("Tags")


@dataclass(frozen=True, slots=True)
class RejectedChangesView:
    """A rejected change to several entries.

    Attributes:
        why: the error.
        typed: submitted changes: value by field name.
        selection: fields (name and value) that select the entries.
        back: path of the list from which the form was sent.
    """

    why: Message
    typed: Mapping[str, str]
    selection: tuple[tuple[str, str], ...]
    back: str
    title: str | Message = Message("Nothing was changed")


@dataclass(frozen=True, slots=True)
class NeighboursView:
    """The list from which an entry was opened, and the entries before and after it there.

    Attributes:
        list: query string of the list.
        back: path of the list.
        previous, next: paths of the neighbours; empty for none.
        previous_title, next_title: titles of the neighbours.
    """

    list: str
    back: str
    previous: str
    previous_title: str
    next: str
    next_title: str


@dataclass(frozen=True, slots=True)
class RejectedEdit:
    """Submitted values of a rejected edit form by field name, and the error."""

    why: Message
    typed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EntryView:
    """Data of the entry page.

    Attributes:
        detail: the entry and its snapshots.
        shown: the snapshot that is shown; None if the entry has no snapshot.
        article: article of the snapshot as HTML, with archived images.
        payload_url: URL of the capture, to embed in this page.
        payload_link: URL of the capture, for a link.
        kind: type of view: ``article``, ``image``, ``pdf``, ``unread``, ``file``, ``page`` (without
            text) or ``nothing``.
        minutes: reading time in minutes.
        is_outdated: whether an older version of the extractor was used.
        outline: headings, if there are enough for a table of contents.
        hits: number of matches in the article; the query is that of the list from which the entry
            was opened.
        neighbours: the list from which the entry was opened; None if it was not opened from a list.
        current_url: URL of this page within that list; empty without a list.
        highlights: highlights of the entry, with their positions in the article.
        years: snapshots by year and month.
        browser_problem: why pages cannot be rendered; None if they can.
        archives: hosts of the public archives in use.
        refused: values of a rejected edit form.
        place: reading position in the article, from any device; None if there is none.
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
    neighbours: NeighboursView | None = None
    current_url: str = ""
    highlights: tuple[PlacedHighlight, ...] = ()
    years: tuple[Year, ...] = ()
    browser_problem: Message | None = None
    archives: tuple[str, ...] = ()
    notice: EditNotice | None = None
    refused: RejectedEdit | None = None
    place: ReadingPlace | None = None

    @property
    def entry(self) -> Entry:
        """Return the entry."""
        return self.detail.entry


@dataclass(frozen=True, slots=True)
class TextView:
    """The text of a snapshot's article."""

    shown: SnapshotDetail
    title: str


@dataclass(frozen=True, slots=True)
class FoldedPiece:
    """Part of a comparison.

    Attributes:
        side: the snapshot that contains the text, or both.
        text: the text, or its beginning if the middle is hidden.
        folded: the hidden middle of a long unchanged text.
        end: the text after the hidden middle.
    """

    side: Side
    text: str
    folded: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class NothingToCompareView:
    """An entry with fewer than two snapshots, which cannot be compared."""

    entry: Entry
    snapshots: tuple[Snapshot, ...]
    title: str | Message = Message("Nothing to compare yet")


@dataclass(frozen=True, slots=True)
class CompareView:
    """Comparison of two snapshots.

    Attributes:
        compared: the differences.
        snapshots: snapshots to choose from.
        pieces: the merged text of both snapshots, in parts.
        is_side: whether both texts are shown side by side.
    """

    compared: SnapshotDifference
    snapshots: tuple[Snapshot, ...]
    pieces: tuple[FoldedPiece, ...]
    is_side: bool
    title: str


class _ActionResult:
    """Page that is shown after an action; ``done`` is the result, such as ``queued-3``."""

    __slots__ = ()
    done: str

    @property
    def outcome(self) -> str:
        """Return the name in ``done``, such as ``queued``."""
        return self.done.partition("-")[0]

    @property
    def count(self) -> int:
        """Return the number in ``done``; 0 if it has none."""
        digits = self.done.partition("-")[2]
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 12 else 0


@dataclass(frozen=True, slots=True)
class SaveAgainView:
    """Questions about URLs before they are captured.

    Attributes:
        known: URLs that have snapshots.
        tags, title, note, render: values of the form.
        saved: jobs of the URLs that were saved without a question.
        rejected: invalid URLs.
    """

    known: tuple[SavedAddress, ...]
    tags: str = ""
    note: str = ""
    render: bool = False
    saved: tuple[Job, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    title: str = ""

    @property
    def page_title(self) -> Message:
        """Return the title of the page; ``title`` is the user's title for the entry."""
        return Message("Already saved")


@dataclass(frozen=True, slots=True)
class DeleteView:
    """Confirmation of a deletion.

    Attributes:
        keys: hash_urls of the entries; empty for all results of ``query``.
        entries: the first entries, as examples.
        days: number of days for which they can be restored.
        count, has_more: number of entries; a lower bound with ``has_more``.
        timestamp: the snapshot to delete; empty for all snapshots.
        query: the search whose results are deleted; None if ``keys`` names the entries.
        back: the page to return to.
        listed: path of the list to show if the page of the entry no longer exists.
    """

    keys: tuple[str, ...]
    entries: tuple[Entry, ...]
    days: int
    count: int = 1
    has_more: bool = False
    timestamp: str = ""
    query: ListingQuery | None = None
    back: str = ""
    listed: str = "/snapshots"
    title: str | Message = Message("Delete")

    @property
    def after(self) -> str:
        """Return the page to show afterwards: a list instead of the page of a deleted entry."""
        is_gone = not self.timestamp and any(self.back.startswith(f"/{key}") for key in self.keys)
        return self.listed if is_gone else self.back


@dataclass(frozen=True, slots=True)
class FeedsView(_ActionResult):
    """Data of the feed page.

    Attributes:
        feeds: the followed feeds, in the order in which they were added.
        contents: newest entries, and number of unread entries, of each feed by its URL.
        problem: why the request failed.
        given: the submitted URL, shown in the form again.
        is_other_form: whether the URL is not a feed, but a file that can be imported.
        done: result of the last action: a name, and a number.
    """

    feeds: tuple[FollowedFeed, ...]
    contents: Mapping[str, FeedContent]
    problem: Message | str = ""
    given: str = ""
    is_other_form: bool = False
    done: str = ""
    title: str | Message = Message("Feeds")


@dataclass(frozen=True, slots=True)
class CrawlView(_ActionResult):
    """Data of the crawl page.

    Attributes:
        work: running jobs, waiting hosts and failures.
        archives: hosts of public archives from which missing pages can be requested.
        backlog: data that is not yet in the object store; None without an object store.
        incomplete_exports: number of exports that failed or are incomplete.
        done: result of the last action: a name and a number, or ``ask`` to confirm cancelling all
            jobs.
        imports: imports that are not finished.
    """

    work: CrawlState
    archives: tuple[str, ...] = ()
    backlog: Backlog | None = None
    incomplete_exports: int = 0
    done: str = ""
    imports: tuple[ImportStatus, ...] = ()
    title: str | Message = Message("Activity")
