"""The operations of imports, and of asking public archives, as ``operations`` has all others."""

from archiver.model.choices import CaptureWhen, ColumnRole, FoldersAs, ToRead
from archiver.model.failure import Reason
from archiver.model.importing import ImportStatus
from archiver.model.survey import ImportSurvey
from archiver.services.import_undo import UndoPlan
from archiver.web.api.imports import Queued, ReceiptLine
from archiver.web.api.operation import Json, Operation, Parameter
from archiver.web.api.questions import AgainRequest, RescueRequest

_ID = Parameter("id", "Of the import.", {"type": "integer", "minimum": 0}, "path")
_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_OF_A_FILE = (
    Parameter("name", "Of the file, when the body is the file itself.", _TEXT),
    Parameter("tags", "For every link, separated by commas.", _TEXT),
    Parameter(
        "folders_as",
        "Whether the names of folders are tags, or their whole paths, or neither; or whether "
        "folders are left out.",
        {"type": "string", "enum": [*FoldersAs], "default": FoldersAs.TAGS},
    ),
    Parameter(
        "to_read",
        "Which links are tagged `toread`.",
        {"type": "string", "enum": [*ToRead], "default": ToRead.AS_SAID},
    ),
    Parameter(
        "capture",
        "When: with the rest, when nothing else waits, or never, which keeps them as links.",
        {"type": "string", "enum": [*CaptureWhen], "default": CaptureWhen.NOW},
    ),
    Parameter("into", "Path of a list into which all are put.", _TEXT),
    Parameter("only_folder", "Only links in these folders or below; can be repeated.", _TEXTS),
    Parameter(
        "column",
        f"What columns of a table say, each `role=name`; roles are {', '.join(ColumnRole)}.",
        _TEXTS,
    ),
)
IMPORT_OPERATIONS = (
    Operation(
        "post",
        "/api/v1/imports",
        "api_import",
        "Read a file of bookmarks or links into the queue; reading goes on after the answer.",
        ImportStatus,
        _OF_A_FILE,
        (("multipart/form-data", bytes), ("application/octet-stream", bytes)),
        202,
    ),
    Operation(
        "post",
        "/api/v1/imports/look",
        "api_import_look",
        "Say what importing a file of links would do, and keep nothing.",
        ImportSurvey,
        _OF_A_FILE,
        (("multipart/form-data", bytes), ("application/octet-stream", bytes)),
    ),
    Operation(
        "get",
        "/api/v1/imports",
        "api_imports",
        "List the latest imports, newest first.",
        list[ImportStatus],
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}",
        "api_import_status",
        "Show how far an import has come.",
        ImportStatus,
        (_ID,),
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}/receipt",
        "api_import_receipt",
        "What became of every row of the file, in order: added, merged, known, unusable, left out.",
        list[ReceiptLine],
        (_ID,),
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}/failures",
        "api_import_failures",
        "Count the pages that could not be saved, by reason.",
        tuple[Reason, ...],
        (_ID,),
    ),
    Operation(
        "post",
        "/api/v1/imports/{id}/again",
        "api_import_again",
        "Queue pages again that failed for a reason, or for any.",
        Queued,
        (_ID,),
        (("application/json", AgainRequest),),
    ),
    Operation(
        "post",
        "/api/v1/imports/{id}/capture",
        "api_import_capture",
        "Queue what was kept as links.",
        Queued,
        (_ID,),
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}/undo",
        "api_import_undo_plan",
        "Preview the undo of an import.",
        UndoPlan,
        (_ID,),
    ),
    Operation(
        "post",
        "/api/v1/imports/{id}/undo",
        "api_import_undo",
        "Delete the entries that only this import created; a large one goes on after the answer.",
        ImportStatus,
        (_ID,),
        status=202,
    ),
    Operation(
        "post",
        "/api/v1/rescue",
        "api_rescue",
        "Ask public archives for pages: those named, those that a query finds, or all that are "
        "gone and have no snapshot.",
        Queued,
        (),
        (("application/json", RescueRequest),),
        202,
    ),
)
"""Imports, and rescue."""
