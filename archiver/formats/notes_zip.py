"""A folder of Markdown notes (Obsidian, Logseq) as a zip: links, and where their notes lie.

Notes that we wrote are an entry each, in a folder of notes that a person keeps, too: what their
articles link to is nobody's bookmark.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml

from archiver.formats.dates import parse_date
from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import guessed_tags
from archiver.formats.importer import Importer
from archiver.formats.markdown import read_entry
from archiver.formats.plain_text import read_plain_text
from archiver.formats.rows import Row, text_of
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked

_NOTES = (".md", ".markdown", ".org")
_SETTINGS = (".obsidian/", "logseq/config.edn")
_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_PROPERTY = re.compile(r"^[-\s]*([\w-]+)::\s*(.+?)\s*$", re.MULTILINE)
_ADDRESSES = ("url", "source", "link", "website")
_HTTP = ("http://", "https://")
_MOST_FRONT = 1 << 14
_OWN = re.compile(r"(?:\A|/)([0-9a-f]{32})/index\.md\Z")
_MOST_OWN_FRONT = 2 << 20
"""Characters: the longest note and source record that are kept have room, however escaped."""
_MOST_TRIED = 5
_MOST_OPEN = 50
"""Brackets within brackets of front matter."""


def _read(file: GivenFile) -> Iterator[Bookmark]:
    packed = file.zip
    for name in packed.names if packed else ():
        if packed and name.lower().endswith(_NOTES) and not name.startswith("."):
            if own := _own(packed, name):
                yield own
                continue
            with packed.open(name) as member:
                yield from _note(GivenFile(member, name), name)


def _own(packed: Members, name: str) -> Bookmark | None:
    """The entry that we wrote as this note; None if it is none of ours."""
    found = _OWN.search(name)
    if found is None:
        return None
    text = packed.read(name, _MOST_OWN_FRONT).decode("utf-8", "replace")
    annotation = read_entry(_front_matter(text, _MOST_OWN_FRONT), found[1])
    return Bookmark(annotation) if annotation else None


def _note(file: GivenFile, name: str) -> Iterator[Bookmark]:
    *folders, last = name.split("/")
    path = folder_path(folders)
    front = _front_matter(file.text)
    row = Row(front)
    address = next((each for each in _ADDRESSES if _is_address(row.peek(each))), "")
    tags = guessed_tags(row.take("tags", "tag"))
    own = row.text(address) if address else ""
    if own:
        yield row.bookmark(
            own,
            title=row.text("title") or last.rpartition(".")[0],
            note=row.text("description"),
            added_at=row.moment("created", "date", "datesaved", "saved"),
            tags=tags,
            folders=(path,) if path else (),
        )
    added_at = parse_date(text_of(front.get("created") or front.get("date")))
    for found in read_plain_text(file):
        if found.annotation.url_given != own and _is_address(found.annotation.url_given):
            note = Row({"note": name}).bookmark("").annotation.source_record
            yield Bookmark(
                replace(
                    found.annotation,
                    added_at=added_at,
                    tags=tags,
                    folders=(path,) if path else (),
                    source_record=note,
                )
            )


def _front_matter(text: str, most: int = _MOST_FRONT) -> dict[str, Any]:
    """The properties at the head of a note: YAML, or Logseq's ``name:: value``."""
    found = _FRONT.match(text)
    if found is None:
        return {each[1]: each[2] for each in _PROPERTY.finditer(text[:_MOST_FRONT])}
    try:
        front = yaml.load(found[1][:most], Loader=_Loader)  # noqa: S506 - a safe one
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError):
        return {}
    return {str(name): each for name, each in front.items()} if isinstance(front, dict) else {}


class _Loader(yaml.SafeLoader):
    """Takes scalars as the texts they are, and no aliases: they grow."""

    flow_level: int

    def compose_node(self, parent: Any, index: Any) -> Any:
        """A node, if it is none of another's."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)

    def fetch_flow_collection_start(self, token_class: Any) -> None:
        """The next bracket, if few are open: each costs what all of them do."""
        if self.flow_level >= _MOST_OPEN:
            raise yaml.YAMLError("too many brackets")
        super().fetch_flow_collection_start(token_class)

    def compose_scalar_node(self, anchor: Any) -> Any:
        """A text, whatever it is tagged as: numbers to the base of 60 take quadratic time."""
        node = super().compose_scalar_node(anchor)
        node.tag = "tag:yaml.org,2002:str"
        return node


_Loader.yaml_implicit_resolvers = {}


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_HTTP)


def _fits(file: GivenFile) -> bool:
    notes = sum(each.lower().endswith(_NOTES) for each in file.members)
    is_vault = any(mark in each for each in file.members for mark in _SETTINGS)
    return notes > 0 and (is_vault or notes * 2 > len(file.members))


def _is_ours(file: GivenFile) -> bool:
    packed = file.zip
    if packed is None:
        return False
    own = [each for each in packed.names if _OWN.search(each)]
    notes = sum(each.lower().endswith(_NOTES) for each in packed.names)
    return len(own) * 2 > notes and any(_own(packed, each) for each in own[:_MOST_TRIED])


OWN_MARKDOWN = Importer(
    "archiver Markdown",
    _is_ours,
    _read,
    ("zip",),
    marked("archiver: Export, Markdown"),
    says_all_tags=True,
)
NOTES_ZIP = Importer(
    marked("zip of notes"),
    _fits,
    _read,
    ("zip",),
    marked(
        "Obsidian, Logseq, any folder of Markdown: the links in notes, with their folders and tags"
    ),
)
