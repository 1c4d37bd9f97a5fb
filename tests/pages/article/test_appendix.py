"""A section named appendix is part of the article."""

import pytest

from archiver.pages.article.extraction import extract_article

SENTENCE = "The mill stood by the river and ground what the valley grew each year. "
THANKS = f"<h3>Acknowledgments</h3><p>We thank the miller and his sons. {SENTENCE * 2}</p>"


def text_of(behind: str) -> str:
    body = f"<body><main><p>{SENTENCE * 9}</p><p>{SENTENCE * 9}</p></main>{behind}</body>"
    return extract_article(body, "https://example.com/").text


@pytest.mark.parametrize(
    "called",
    [
        "d-appendix",
        "div class='end appendix'",
        "section role=doc-appendix",
        "div id=acknowledgements",
    ],
)
def test_an_appendix_follows_the_article(called):
    found = text_of(f"<{called}>{THANKS}</{called.split()[0]}>")

    assert found.count("We thank the miller") == 1
    assert "Acknowledgments" in found.split(SENTENCE.strip())[-3]


@pytest.mark.parametrize(
    "behind",
    [
        f"<nav class=appendix>{THANKS}</nav>",
        f"<div class=appendix-footer>{THANKS}</div>",
        "<div class=appendix><a href='/next'>Next: the appendix</a></div>",
        "<div class=appendix><h3>Thanks</h3><p>To the miller.</p></div>",
    ],
)
def test_links_to_an_appendix_and_sections_without_prose_are_removed(behind):
    assert "miller" not in text_of(behind)


def test_a_bibliography_follows_the_article():
    works = "<li>Miller, A., 2001, Mills.</li><li>Baker, B., 2002, On bread, Journal 3, 1-9.</li>"
    found = text_of(f"<div id=bibliography><h2>Bibliography</h2><ul>{works * 2}</ul></div>")
    assert found.count("Miller, A., 2001") == 2
