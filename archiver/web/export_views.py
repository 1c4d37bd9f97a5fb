"""What the page of exports shows."""

from dataclasses import dataclass

from archiver.model.listing import ListingQuery
from archiver.model.message import Message
from archiver.services.export_kinds import EXPORTS, ExportKind
from archiver.services.kept_exports import KeptExport
from archiver.web.views import Refusal


@dataclass(frozen=True, slots=True)
class ExportView:
    """Every form that there is, of everything or of what a search finds, and what is kept.

    Attributes:
        query: what is wanted.
        export_query: the same as the rest of an address; empty for everything.
        count: entries that are wanted; None where the search can't be read.
        has_more: there are more than that.
        kept: exports that lie here, or are being written.
        refusal: why the search can't be read, if it can't.
    """

    query: ListingQuery
    export_query: str
    count: int | None
    has_more: bool
    kept: tuple[KeptExport, ...]
    refusal: Refusal | None = None
    kinds: tuple[ExportKind, ...] = EXPORTS
    title: str | Message = Message("Export")
