"""An entry as text: ``index.md``, front matter and the article as clean HTML.

The form of the caches of linked articles this program descends from: a folder named by hash_url,
with a file that any static site generator, editor or ``grep`` reads.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import yaml

from archiver.model.entry import Entry, Snapshot
from archiver.model.job import State

_OTHER_THAN_TEXT = re.compile(
    r"""(?ix) (?: ~? | = | << | null | true | false | yes | no | y | n | on | off
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2} .*
    | [-+]? (?: \.inf | \.nan | 0b[01_]+ | 0o[0-7_]+ | 0x[0-9a-f_]+
              | [0-9_.][0-9_.,:]* (?: e[-+]?[0-9_]+ )? ) )\Z"""
)
"""Plain scalars that are read as something else than text: by YAML 1.1 (its types, and what its
readers made of them) or by the core schema of 1.2 (§10.3.2)."""
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_Value = str | bool | datetime | list[str]


def entry_markdown(entry: Entry, snapshot: Snapshot | None, article_html: str) -> str:
    """Write an entry as Markdown: YAML front matter, then HTML, which Markdown lets through.

    Args:
        entry: the entry.
        snapshot: the snapshot the article is of; None if there is none yet.
        article_html: sanitised HTML, no document around it, or Markdown; may be empty.

    Returns:
        Text that can be encoded as UTF-8; its front matter is valid YAML 1.1 and 1.2 whatever
        the fields hold, and texts are read as texts by both. ``title``, ``url`` and ``hash_url``
        come first and are always there, the others only when they say something.
    """
    fields = [*_own(entry, snapshot), *(_captured(entry, snapshot) if snapshot else ())]
    fields.append(("source_record", _stated_elsewhere(entry)))
    front = yaml.dump(
        {name: value for name, value in fields if value or name in {"title", "url", "hash_url"}},
        Dumper=_Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=1 << 16,
    )
    article = article_html.strip()
    body = f"\n{article}\n" if article else ""
    return _SURROGATE.sub("\ufffd", f"---\n{front}---\n{body}")


class _Dumper(yaml.SafeDumper):
    """Writes front matter, with quotes around texts that look like something else."""


def _write_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # Unless they are escaped, line breaks beyond ASCII are folded away by who reads them.
    style = '"' if _ODD_BREAK.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _OTHER_THAN_TEXT, None)


def _own(entry: Entry, snapshot: Snapshot | None) -> Iterator[tuple[str, _Value]]:
    """What the person said."""
    yield "title", entry.title or (snapshot.title if snapshot else "")
    yield "url", entry.url
    yield "hash_url", entry.hash_url
    yield "tags", list(entry.annotation.tags)
    yield "note", entry.annotation.note
    yield "added", entry.annotation.saved_at
    yield "folders", list(entry.annotation.folders)
    yield "read", entry.annotation.is_read
    yield "starred", entry.annotation.is_starred
    if entry.state is not State.SAVED:
        yield "state", entry.state.value
        yield "failure", entry.failure.message if entry.failure else ""


def _stated_elsewhere(entry: Entry) -> list[str]:
    """What files said of it that no field holds: JSON, a text for each."""
    return entry.annotation.source_record.split("\n") if entry.annotation.source_record else []


def _captured(entry: Entry, snapshot: Snapshot) -> Iterator[tuple[str, _Value]]:
    """What the snapshot says."""
    yield "captured", datetime.strptime(snapshot.timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    yield "final_url", snapshot.final_url if snapshot.final_url != entry.url else ""
    yield "byline", snapshot.byline
    yield "site", snapshot.site
    yield "published", snapshot.published
    yield "language", snapshot.language
