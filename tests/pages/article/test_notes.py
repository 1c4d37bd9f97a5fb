"""Linked notes are part of the article; the author's asides stay between paragraphs."""

import pytest

from archiver.pages.article.extraction import extract_article

SENTENCE = "The mill stood by the river and ground what the valley grew each year. "
PROSE = f"<p>{SENTENCE * 5}</p>"
REFERENCE = '<p>The wheel turned.<sup><a id="r1" href="#n1">1</a></sup></p>'
STORY = f"<div class=story>{PROSE * 3}{REFERENCE}{PROSE * 3}</div>"
NOTE = '<li id="n1">As the ledger has it. <a href="#r1">back</a></li>'
NUMBER = '<sup><a id="n1" href="#r1">1</a></sup>'
SIDE = f"<div class=side><h3>Elsewhere</h3><ul><li>{SENTENCE}</li></ul></div>"


def article_of(body):
    return extract_article(f"<html><body>{body}</body></html>", "https://example.com/").html


@pytest.mark.parametrize(
    "notes",
    [
        f"<div class=bottom><h3>Notes</h3><ol>{NOTE}</ol></div>",
        f"<footer><h3>Notes</h3><ol>{NOTE}</ol></footer>",
        f"<footer><h3>Notes</h3><div>{NUMBER} As the ledger has it.</div></footer>",
    ],
)
def test_linked_notes_are_extracted_with_their_heading(notes):
    article = article_of(f"<main>{STORY}</main>{SIDE}{notes}")

    assert article.count("As the ledger has it.") == 1
    assert "Notes</h2>" in article
    assert 'href="#a-n1"' in article
    assert 'id="a-n1"' in article
    assert "Elsewhere" not in article


@pytest.mark.parametrize(
    "other",
    [
        '<footer><ol><li id="n1">What does not lead back.</li></ol></footer>',
        '<div class=comments><ol><li id="n1">A remark <a href="#r1">up</a></li></ol></div>',
        f'<footer><div id="n1">{SENTENCE * 90}<a href="#r1">up</a></div></footer>',
    ],
)
def test_other_link_targets_are_not_extracted(other):
    assert article_of(f"<main>{STORY}</main>{other}") == article_of(f"<main>{STORY}</main>")


@pytest.mark.parametrize("behind", ["", "<div><h2>Chimneys</h2></div>"])
def test_a_remark_between_paragraphs_stays(behind):
    remark = "<aside><p>Mills of this kind had no chimney.</p></aside>"

    assert "no chimney" in article_of(f"<main>{PROSE * 3}{remark}{behind}{PROSE * 3}</main>")


@pytest.mark.parametrize(
    "aside",
    [
        "<aside class=newsletter><p>Our letters come on Mondays.</p></aside>",
        "<aside><p>Our letters come <a href=/on>on every Monday</a>.</p></aside>",
        "<aside><p>Our letters come on Mondays.</p><button>Come</button></aside>",
    ],
)
def test_asides_with_links_to_other_pages_are_removed(aside):
    assert "letters" not in article_of(f"<main>{PROSE * 3}{aside}{PROSE * 3}</main>")


def test_an_aside_at_the_end_is_removed():
    remark = "<aside><p>Our letters come on Mondays.</p></aside>"

    assert "letters" not in article_of(f"<main>{PROSE * 6}{remark}</main>")
