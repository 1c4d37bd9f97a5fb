"""What the pages of imports show, as ``views`` has it of all others."""

from dataclasses import dataclass

from archiver.model.choices import Choices, ColumnRole
from archiver.model.failure import Reason
from archiver.model.folder_path import folder_names, folder_path
from archiver.model.importing import ImportStatus
from archiver.model.message import Message
from archiver.model.survey import ImportSurvey
from archiver.services.import_kinds import KnownFormat
from archiver.services.import_undo import UndoPlan

MOST_PICKABLE = 500


@dataclass(frozen=True, slots=True)
class ImportView:
    """The form for a file, what it may be, and the imports so far.

    Attributes:
        url: of a page that is to be handed in.
        problem: why the file that was given is not taken.
        problem_of_page: why the page that was handed in is not.
    """

    recent: tuple[ImportStatus, ...]
    max_upload_bytes: int
    formats: tuple[KnownFormat, ...]
    accept: str
    url: str = ""
    problem: str | Message = ""
    problem_of_page: str | Message = ""
    title: str | Message = Message("Import")


@dataclass(frozen=True, slots=True)
class ImportLookView:
    """What an import would do, and what can be chosen.

    Attributes:
        token: of the file.
        survey: what is in it.
        choices: those that it was looked at with.
        tags: of them, as they are typed.
        roles: what a column can say.
        columns: those that can be corrected, with what they are taken for.
    """

    token: str
    survey: ImportSurvey
    choices: Choices
    tags: str
    roles: tuple[ColumnRole, ...] = ()
    columns: tuple[tuple[str, ColumnRole], ...] = ()
    title: str | Message = Message("Import")

    @property
    def pickable(self) -> tuple[str, ...]:
        """The folders that can be chosen, with those around them; those that are, first."""
        chosen = self.choices.only_folders
        found = {each.name for each in self.survey.folders if not self.choices.into}
        paths = [folder_names(each) for each in found]
        around = {folder_path(names[:depth]) for names in paths for depth in range(1, len(names))}
        return (*chosen, *sorted((found | around) - {*chosen})[:MOST_PICKABLE])


@dataclass(frozen=True, slots=True)
class ImportStatusView:
    """How far one import has come.

    Attributes:
        status: its numbers.
        reasons: why rows are not usable, and how many.
        failed: why pages could not be saved, and how many.
        queued: how many were queued again a moment ago; None where nobody asked.
        has_brought: whether there was anything in it to undo.
        is_undoing: whether it is being undone now.
        has_links: whether something of it is kept as a link alone.
        has_deletion: whether what undoing it removed can still be put back.
    """

    status: ImportStatus
    reasons: tuple[tuple[str, int], ...] = ()
    failed: tuple[Reason, ...] = ()
    queued: int | None = None
    has_brought: bool = False
    is_undoing: bool = False
    has_links: bool = False
    has_deletion: bool = False
    title: str | Message = Message("Import")


@dataclass(frozen=True, slots=True)
class ImportUndoView:
    """What undoing an import would do, before it is done."""

    status: ImportStatus
    plan: UndoPlan
    title: str | Message = Message("Undo an import")
