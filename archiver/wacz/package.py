"""The lists of a package (WACZ 1.1.1 §5): its pages, its resources, and the digest of these."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from archiver.memento.timestamps import to_datetime
from archiver.model.entry import Snapshot
from archiver.wire.moments import write_iso

WACZ_VERSION = "1.1.1"
DATA = "archive/data.warc.gz"
BLOCKS = "indexes/index.cdx.gz"
POINTERS = "indexes/index.idx"
PAGES = "pages/pages.jsonl"
PACKAGE = "datapackage.json"
DIGEST = "datapackage-digest.json"
PAGES_HEAD = json.dumps(
    {"format": "json-pages-1.0", "id": "pages", "title": "Pages", "hasText": False}
)


@dataclass(frozen=True, slots=True)
class Resource:
    """A file of the package: its path, its size in bytes, and its sha256 in hex."""

    path: str
    size: int
    sha256: str


def page_line(snapshot: Snapshot) -> str:
    """The line of a snapshot in ``pages.jsonl`` (§5.2.2)."""
    line = {
        "id": f"{snapshot.hash_url}-{snapshot.timestamp}",
        "url": snapshot.url,
        "ts": write_iso(to_datetime(snapshot.timestamp)),
        "title": snapshot.title,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def data_package(
    resources: Sequence[Resource],
    *,
    title: str,
    software: str,
    created: datetime,
    main_page: Snapshot | None,
) -> bytes:
    """``datapackage.json`` (§5.2.4)."""
    document: dict[str, object] = {
        "profile": "data-package",
        "wacz_version": WACZ_VERSION,
        "title": title,
        "software": software,
        "created": write_iso(created),
        "modified": write_iso(created),
        "resources": [
            {
                "name": each.path.rpartition("/")[2],
                "path": each.path,
                "hash": f"sha256:{each.sha256}",
                "bytes": each.size,
            }
            for each in resources
        ],
    }
    if main_page:
        document["mainPageUrl"] = main_page.url
        document["mainPageDate"] = write_iso(to_datetime(main_page.timestamp))
    return json.dumps(document, ensure_ascii=False, indent=2).encode()


def package_digest(package: bytes) -> bytes:
    """``datapackage-digest.json`` (§5.2.5)."""
    found = hashlib.sha256(package).hexdigest()
    return json.dumps({"path": PACKAGE, "hash": f"sha256:{found}"}, indent=2).encode()
