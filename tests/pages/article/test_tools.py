"""Edit links are not part of headings, and removing them keeps the headings."""

import pytest

from archiver.pages.article.extraction import extract_article
from archiver.pages.shown_article import ArticleTree

PROSE = (
    "<p>" + "The mill stood by the river, and ground what the valley grew, each year. " * 4 + "</p>"
)
EDIT = '<a href="/w?title=Mill&amp;action=edit&amp;section=1">edit</a>'
SOURCE = '<a href="/w?title=Mill&amp;veaction=edit">edit source</a>'


def read(heading):
    page = f"<html><body><article>{PROSE * 3}{heading}{PROSE * 3}</article></body></html>"
    return extract_article(page, "https://wiki.example/Mill").html.replace(PROSE, "")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (f"<h2>History<span>[{EDIT}]</span></h2>", "[edit]"),
        (f"<h2>History<span>[{EDIT} | {SOURCE}]</span></h2>", "[edit | edit source]"),
        (f"<h2>History {EDIT}</h2>", "edit"),
    ],
)
def test_an_edit_link_in_a_heading_is_marked_with_its_wrapper(written, said):
    found = read(written)

    assert found.count('class="permalink"') == 1
    assert f">{said}</a></h2>" in found
    assert [each.words for each in ArticleTree(found * 3).add_heading_ids()] == ["History"] * 3


def test_a_heading_next_to_an_edit_link_stays_without_it():
    found = read(f"<div class=head><h2 id=h>History</h2><span>[{EDIT}]</span></div>")

    assert ">History</h2>" in found
    assert "edit" not in found


def test_other_links_in_and_next_to_headings_stay():
    found = read('<h2>History of <a href="/rye">rye</a></h2><a href="/all">All of it</a>')

    assert '<h2>History of <a href="https://wiki.example/rye"' in found
    assert "All of it" in found
