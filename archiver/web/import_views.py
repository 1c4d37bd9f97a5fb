"""What the pages of imports show, as ``views`` has it of all others."""

from dataclasses import dataclass

from archiver.model.choices import Choices
from archiver.model.importing import ImportStatus
from archiver.model.survey import ImportSurvey
from archiver.services.import_kinds import KnownFormat


@dataclass(frozen=True, slots=True)
class ImportView:
    """The form for a file, what it may be, and the imports so far."""

    recent: tuple[ImportStatus, ...]
    max_upload_bytes: int
    formats: tuple[KnownFormat, ...]
    accept: str
    title: str = "Import"


@dataclass(frozen=True, slots=True)
class ImportLookView:
    """What an import would do, and what can be chosen; ``tags`` as they are typed."""

    token: str
    survey: ImportSurvey
    choices: Choices
    tags: str
    title: str = "Import"


@dataclass(frozen=True, slots=True)
class ImportStatusView:
    """How far one import has come; ``reasons`` why rows are not usable, and how many."""

    status: ImportStatus
    reasons: tuple[tuple[str, int], ...] = ()
    title: str = "Import"
