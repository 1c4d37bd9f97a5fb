"""What the pages of the work show: the crawl, and the question before something is deleted."""

from collections.abc import Mapping
from dataclasses import dataclass

from archiver.model.entry import Entry
from archiver.model.importing import Rejected
from archiver.model.job import Job
from archiver.model.listing import ListingQuery
from archiver.model.message import Message
from archiver.model.subscription import Followed
from archiver.services.entries import KeptAddress
from archiver.services.last_check import LastCheck
from archiver.services.oversight import Room, Work
from archiver.services.uploading import Backlog


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
    known: tuple[KeptAddress, ...]
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

    feeds: tuple[Followed, ...]
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
