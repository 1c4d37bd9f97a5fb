"""The links of a Telegram export: each with the message that it stands in."""

import re
from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, text_of
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked

_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
_TOLD_OTHERWISE = ("type", "text", "textentities")
_MOST_NOTE = 10_000


def _read(file: GivenFile) -> Iterator[Bookmark]:
    chat = ""
    for name, value in JsonText(file.chunks()).members("messages"):
        if isinstance(value, Bookmark):
            yield value
        elif name == "name":
            chat = text_of(value)
        elif name == "messages":
            yield from _message(value, chat)
        elif name in ("chats", "left_chats") and isinstance(value, dict):
            for each in value.get("list") or ():
                for message in each.get("messages") or () if isinstance(each, dict) else ():
                    yield from _message(message, text_of(each.get("name")))


def _message(message: Any, chat: str) -> Iterator[Bookmark]:
    if not isinstance(message, dict):
        return
    parts = message.get("text_entities") or message.get("text")
    parts = parts if isinstance(parts, list) else [parts]
    pieces = [(_text(each), _href(each)) for each in parts]
    whole = "".join(text for text, _ in pieces).strip()
    path = folder_path([chat])
    seen = set()
    for text, href in pieces:
        found = [href] if href else _ADDRESS.findall(text)
        for url in found:
            if url not in seen:
                seen.add(url)
                row = Row(message)
                row.drop(*_TOLD_OTHERWISE)
                yield row.bookmark(
                    url,
                    title=text if href and text != href else "",
                    note=whole[:_MOST_NOTE] if whole != url else "",
                    added_at=row.moment("dateunixtime", "date"),
                    folders=(path,) if path else (),
                )


def _text(part: Any) -> str:
    return text_of(part.get("text")) if isinstance(part, dict) else text_of(part)


def _href(part: Any) -> str:
    if not isinstance(part, dict):
        return ""
    return text_of(part.get("href")) or (_text(part) if part.get("type") == "link" else "")


TELEGRAM = Importer(
    "Telegram JSON",
    lambda file: bool({"messages[].text", "chats.list[].messages"} & file.json_paths),
    _read,
    ("json",),
    marked("Telegram Desktop: Export chat history, machine-readable JSON"),
)
