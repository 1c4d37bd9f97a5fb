"""A Markdown export is imported with one entry for each note, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.entry_markdown import entry_markdown
from tests.formats.exported import HOSTILE, entries, entry_of
from tests.formats.goldens import zipped
from tests.formats.reading import annotations, opened

FORM = "archiver Markdown"
ARTICLE = "# Owls\n\n---\n\nSee [the kites](https://kites.example/) and https://owls.example/."


def tree(entry, *, snapshot=None, article=ARTICLE, root="", **options):
    """Return a zip with these entries, and other files by name."""
    texts = {
        f"{root}{each.hash_url}/index.md": entry_markdown(each, snapshot, article) for each in entry
    }
    return zipped({**texts, **options})


def reduced_to_front_matter(entry):
    """Return the metadata in ``index.md``: the original URL, and no places."""
    annotation = entry.annotation
    return replace(annotation, url_given=entry.url, source="", places=())


@given(st.lists(entries, min_size=1, max_size=4, unique_by=lambda each: each.entry.hash_url))
def test_metadata_of_entries_is_restored(entry):
    written = [each.entry for each in entry]

    read = annotations(tree(written), "all.zip", form=FORM)

    assert read == [reduced_to_front_matter(each) for each in written]
    assert tree([entry_of(each).entry for each in read]) == tree(written)


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
