"""A Markdown export is imported with one entry for each note, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.entry_markdown import entry_markdown
from archiver.model.annotation import Annotation
from archiver.model.job import State
from tests.formats.exported import AT, HOSTILE, entries, entry_of
from tests.formats.goldens import zipped
from tests.formats.reading import annotations, opened

FORM = "archiver Markdown"
ARTICLE = "# Owls\n\n---\n\nSee [the kites](https://kites.example/) and https://owls.example/."
A_NOTE = Annotation(
    "https://a.example/",
    AT,
    "A",
    ("one",),
    "Mine: #1",
    is_read=True,
    is_starred=True,
    folders=("Food/Soups", "Later"),
)


def tree(found, *, snapshot=None, article=ARTICLE, root="", **others):
    """Return a zip with these entries, and other files by name."""
    texts = {
        f"{root}{each.hash_url}/index.md": entry_markdown(each, snapshot, article) for each in found
    }
    return zipped({**texts, **others})


def reduced_to_front_matter(entry):
    """Return the metadata in ``index.md``: the original URL, and no places."""
    annotation = entry.annotation
    return replace(annotation, url_given=entry.url, source="", places=())


@given(st.lists(entries, min_size=1, max_size=4, unique_by=lambda each: each.entry.hash_url))
def test_metadata_of_entries_is_restored(found):
    written = [each.entry for each in found]

    read = annotations(tree(written), "all.zip", form=FORM)

    assert read == [reduced_to_front_matter(each) for each in written]
    assert tree([entry_of(each).entry for each in read]) == tree(written)


@pytest.mark.parametrize(
    "front",
    [
        "title: A",
        "title: A\nurl: https://a.example/",
        f"title: A\nurl: https://a.example/\nhash_url: {'1' * 32}",
        f"title: A\nurl: file:///a\nhash_url: {'0' * 32}",
        f"title: A\nurl: [https://a.example/]\nhash_url: {'0' * 32}",
    ],
)
def test_a_note_without_url_and_hash_is_an_ordinary_note(front):
    data = zipped({f"{'0' * 32}/index.md": f"---\n{front}\n---\nhttps://b.example/\n"})

    form, read = opened(data)

    assert form == "zip file of notes"
    assert read[-1].annotation.url_given == "https://b.example/"


def test_a_link_only_entry_is_marked_once_after_repeated_imports():
    link = replace(entry_of(A_NOTE).entry, state=State.LINK)
    (first,) = annotations(tree([link]), form=FORM)

    (second,) = annotations(tree([replace(link, annotation=first)]), form=FORM)

    assert second == first
    assert first.source_record == (
        '{"archive":{"state":"link","title":"","failure":null,"snapshots":[]}}'
    )


def test_a_page_title_does_not_become_a_user_title():
    saved = entry_of(replace(A_NOTE, title="")).entry
    first = tree([replace(saved, title="The page's")])

    (read,) = annotations(first, form=FORM)

    assert read.title == ""
    assert tree([entry_of(read).entry]) == first


def test_fields_edited_by_hand_are_read_or_kept():
    key = "0" * 32
    front = (
        f"url: https://a.example/\nhash_url: {key}\nadded: 2024-01-02\ntags: one\n"
        "note: [a, b]\nmood: good\nread: yes please"
    )

    (read,) = annotations(zipped({f"{key}/index.md": f"---\n{front}\n---\n"}), form=FORM)

    assert (read.added_at.isoformat(), read.tags) == ("2024-01-02T00:00:00+00:00", ("one",))
    assert read.source_record == '{"note":["a","b"],"mood":"good"}'


@pytest.mark.parametrize(
    "hostile",
    [
        *HOSTILE,
        "[" * 100_000,
        "- " * 100_000,
        "&a [x, x]\nb: *a",
        "!!python/object/apply:os.system [x]",
        "!!int " + ":".join(["1"] * 100_000),
        "!!float x",
        "\n<<: {url: 1}",
    ],
)
def test_hostile_front_matter_is_read_or_treated_as_a_note(hostile):
    key = "0" * 32
    front = f"url: https://a.example/\nhash_url: {key}\nmood: {hostile}"
    text = f"---\n{front}\n---\n".encode(errors="replace").decode()
    data = zipped({f"{key}/index.md": text})

    _, read = opened(data)

    assert all(each.annotation.url_given.startswith("https://") for each in read)
