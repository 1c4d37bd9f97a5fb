"""Entries and highlights as Markdown."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import yaml

from archiver.formats.json_output import to_document
from archiver.formats.own_json import (
    captured_title,
    captured_title_record,
    json_line,
    link_record,
    read_highlights,
    without_captures,
)
from archiver.formats.rows import MAX_URL, parse_date, text_of
from archiver.http.timestamps import read_iso
from archiver.model.annotation import (
    Annotation,
    Highlight,
    merged_source_records,
    write_source_record,
)
from archiver.model.entry import Entry, Snapshot
from archiver.model.job import State

# Highlights as Markdown quotations, as note-taking programs expect them.


def highlights_markdown(entry: Entry, highlights: Sequence[Highlight]) -> str:
    """Return a heading with a link, then each quotation with its note."""
    title = " ".join((entry.title or entry.url).split())
    head = [f"## {_escaped(title)}", "", f"<{entry.url}>", ""]
    return "\n".join([*head, *quotations(highlights)]) + "\n"


def quotations(highlights: Sequence[Highlight]) -> list[str]:
    """Return the lines of quotations, each followed by its note."""
    lines = []
    for each in highlights:
        lines += [f"> {_escaped(line)}".rstrip() for line in each.quote.splitlines()]
        if each.note:
            lines += ["", each.note]
        date = f" · {each.made_at:%Y-%m-%d}" if each.made_at else ""
        lines += ["", f"*{each.colour}{date}*", ""]
    return lines


def _escaped(text: str) -> str:
    return "".join(f"\\{each}" if each in "\\`*_[]<>#" else each for each in text)


# ``index.md`` of an entry: front matter and the article as clean HTML, in a folder named by
# hash_url. An import reads only the user-supplied fields; a new capture sets the others.

_NOT_TEXT_SCALAR = re.compile(
    r"""(?ix) (?: ~? | = | << | null | true | false | yes | no | y | n | on | off
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2} .*
    | [-+]? (?: \.inf | \.nan | 0b[01_]+ | 0o[0-7_]+ | 0x[0-9a-f_]+
              | [0-9_.][0-9_.,:]* (?: e[-+]?[0-9_]+ )? ) )\Z"""
)
"""Pattern of unquoted scalars that some YAML parsers read as another type than text.

It covers the types of YAML 1.1, common extensions of it, and the core schema of YAML 1.2 (§10.3.2).
"""
_UNICODE_LINE_BREAK = re.compile("[\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HTTP = ("http://", "https://")
_PAGE_FIELDS = frozenset(
    {"captured", "final_url", "byline", "site", "published", "language", "state", "failure"}
)
_PAGE = "page"
"""Value of ``title_from`` if the title is that of the page, not of the user."""
_Value = str | bool | datetime | list[str]


def entry_markdown(entry: Entry, snapshot: Snapshot | None, article_html: str) -> str:
    """Return an entry as Markdown: YAML front matter, then HTML, which Markdown allows.

    Args:
        entry: the entry.
        snapshot: the snapshot of the article; None if there is none yet.
        article_html: sanitised HTML fragment, or Markdown; may be empty.

    Returns:
        Text that can be encoded as UTF-8. Its front matter is valid in YAML 1.1 and 1.2, and both
            read the same values. ``title``, ``url`` and ``hash_url`` come first and are always
            present, the others only if they have a value.
    """
    fields = [
        *_user_fields(entry, snapshot),
        *(_snapshot_fields(entry, snapshot) if snapshot else ()),
    ]
    fields.append(("source_record", _external_metadata(entry)))
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


def read_entry(front: Mapping[str, Any], folder: str) -> Annotation | None:
    """Parse the front matter of an entry.

    Args:
        front: the fields of the front matter, with each scalar as text.
        folder: the name of the folder of the file.

    Returns:
        The user-supplied fields, with unknown fields in the source record; None if
            ``entry_markdown`` did not write this front matter for this folder.
    """
    fields = {name: each for name, each in front.items() if name not in _PAGE_FIELDS}
    url = fields.pop("url", None)
    is_ours = fields.pop("hash_url", None) == folder and isinstance(url, str)
    if not is_ours or not url.startswith(_HTTP):
        return None
    record = "\n".join(_texts(fields, "source_record"))
    title, is_from_page = _text(fields, "title"), _text(fields, "title_from") == _PAGE
    page_title = title if is_from_page else ""
    is_link = front.get("state") == State.LINK.value
    title_record = captured_title_record(page_title) if page_title else ""
    return Annotation(
        url[:MAX_URL],
        _moment(fields, "added"),
        title="" if is_from_page else title,
        tags=_texts(fields, "tags"),
        note=_text(fields, "note"),
        is_read=_boolean(fields, "read"),
        is_starred=_boolean(fields, "starred"),
        folders=_texts(fields, "folders"),
        highlights=_highlights(fields),
        source_record=merged_source_records(
            merged_source_records(record, link_record(page_title) if is_link else title_record),
            write_source_record(fields),
        ),
    )


def _highlights(fields: dict[str, Any]) -> tuple[Highlight, ...]:
    """Remove the highlights and return them; an invalid field stays."""
    lines = _texts(fields, "highlights")
    try:
        return read_highlights([json.loads(each) for each in lines])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        fields["highlights"] = [*lines]
        return ()


def _text(fields: dict[str, Any], name: str) -> str:
    """Remove a text field and return its value.

    A field of another type stays, and the result is empty.
    """
    return str(fields.pop(name)) if isinstance(fields.get(name), str) else ""


def _texts(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    """Remove a list of texts and return it; a single text counts as a list of one."""
    value = fields.get(name)
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        return ()
    del fields[name]
    return tuple(filter(None, values))


def _boolean(fields: dict[str, Any], name: str) -> bool:
    return text_of(fields.pop(name, "")).lower() == "true"


def _moment(fields: dict[str, Any], name: str) -> datetime | None:
    """Remove a field with a time and return the time; a field without a valid time stays."""
    text = text_of(fields.get(name))
    try:
        moment: datetime | None = read_iso(text)
    except ValueError:
        moment = parse_date(text)
    if moment:
        del fields[name]
    return moment


class _Dumper(yaml.SafeDumper):
    """YAML dumper that quotes texts which look like other types."""


def _write_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # YAML parsers fold non-ASCII line breaks unless they are escaped in double quotes.
    style = '"' if _UNICODE_LINE_BREAK.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _NOT_TEXT_SCALAR, None)


def _user_fields(entry: Entry, snapshot: Snapshot | None) -> Iterator[tuple[str, _Value]]:
    captured = snapshot.title if snapshot else captured_title(entry.annotation.source_record)
    title = entry.title or captured
    yield "title", title
    yield "url", entry.url
    yield "hash_url", entry.hash_url
    yield "tags", list(entry.annotation.tags)
    yield "note", entry.annotation.note
    yield "added", entry.annotation.saved_at
    yield "folders", list(entry.annotation.folders)
    yield "read", entry.annotation.is_read
    yield "starred", entry.annotation.is_starred
    yield "title_from", _PAGE if title and not entry.annotation.title else ""
    yield "highlights", [json_line(to_document(each)) for each in entry.annotation.highlights]
    if entry.state is not State.SAVED:
        yield "state", entry.state.value
        yield "failure", entry.failure.message if entry.failure else ""


def _external_metadata(entry: Entry) -> list[str]:
    """Return the lines of the entry's source record, each a JSON text."""
    record = without_captures(entry.annotation.source_record)
    return record.split("\n") if record else []


def _snapshot_fields(entry: Entry, snapshot: Snapshot) -> Iterator[tuple[str, _Value]]:
    yield "captured", datetime.strptime(snapshot.timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    yield "final_url", snapshot.final_url if snapshot.final_url != entry.url else ""
    yield "byline", snapshot.byline
    yield "site", snapshot.site
    yield "published", snapshot.published
    yield "language", snapshot.language
