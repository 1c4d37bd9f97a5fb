"""What was marked in an entry, as Markdown that notes programs read."""

from collections.abc import Sequence

from archiver.model.entry import Entry
from archiver.model.highlight import Highlight


def highlights_markdown(entry: Entry, highlights: Sequence[Highlight]) -> str:
    """A heading with a link, then each quotation with what is said of it."""
    title = " ".join((entry.title or entry.url).split())
    head = [f"## {_escaped(title)}", "", f"<{entry.url}>", ""]
    return "\n".join([*head, *quotations(highlights)]) + "\n"


def quotations(highlights: Sequence[Highlight]) -> list[str]:
    """The lines of quotations, each with what is said of it behind it."""
    lines = []
    for each in highlights:
        lines += [f"> {_escaped(line)}".rstrip() for line in each.quote.splitlines()]
        if each.note:
            lines += ["", each.note]
        made = f" · {each.made_at:%Y-%m-%d}" if each.made_at else ""
        lines += ["", f"*{each.colour}{made}*", ""]
    return lines


def _escaped(text: str) -> str:
    """Text whose signs mean nothing in Markdown."""
    return "".join(f"\\{each}" if each in "\\`*_[]<>#" else each for each in text)
