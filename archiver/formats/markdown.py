"""An entry as text: ``index.md``, front matter and the article as clean HTML.

The form of the caches of linked articles this program descends from: a folder named by hash_url,
with a file that any static site generator, editor or ``grep`` reads.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import yaml

from archiver.model.entry import Entry, Snapshot

_SURROGATE = re.compile("[\ud800-\udfff]")
_Value = str | datetime | list[str]


def entry_markdown(entry: Entry, snapshot: Snapshot | None, article_html: str) -> str:
    """Write an entry as Markdown: YAML front matter, then HTML, which Markdown lets through.

    Args:
        entry: the entry.
        snapshot: the snapshot the article is of; None if there is none yet.
        article_html: sanitised HTML, no document around it; may be empty.

    Returns:
        Text that can be encoded as UTF-8; its front matter is valid YAML 1.1 whatever the fields
        hold. ``title``, ``url`` and ``hash_url`` come first and are always there, the others
        only when they say something.
    """
    fields = [*_own(entry, snapshot), *(_captured(entry, snapshot) if snapshot else ())]
    front = yaml.safe_dump(
        {name: value for name, value in fields if value or name in {"title", "url", "hash_url"}},
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=1 << 16,
    )
    article = article_html.strip()
    body = f"\n{article}\n" if article else ""
    return _SURROGATE.sub("\ufffd", f"---\n{front}---\n{body}")


def _own(entry: Entry, snapshot: Snapshot | None) -> Iterator[tuple[str, _Value]]:
    """What the person said."""
    yield "title", entry.title or (snapshot.title if snapshot else "")
    yield "url", entry.url
    yield "hash_url", entry.hash_url
    yield "tags", list(entry.annotation.tags)
    yield "note", entry.annotation.note
    yield "added", entry.annotation.saved_at


def _captured(entry: Entry, snapshot: Snapshot) -> Iterator[tuple[str, _Value]]:
    """What the snapshot says."""
    yield "captured", datetime.strptime(snapshot.timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    yield "final_url", snapshot.final_url if snapshot.final_url != entry.url else ""
    yield "byline", snapshot.byline
    yield "site", snapshot.site
    yield "published", snapshot.published
    yield "language", snapshot.language
