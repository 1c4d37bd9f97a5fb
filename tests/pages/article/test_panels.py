"""Panels that a click shows are extracted, each with the name of its tab or button."""

import re

import pytest

from archiver.pages.article.extraction import extract_article

PROSE = (
    "<p>" + "The mill stood by the river, and ground what the valley grew, each year. " * 4 + "</p>"
)
PIP, CONDA = "<pre>pip install mill</pre>", "<pre>conda install mill</pre>"
TABS = "<ul role=tablist><li role=tab>pip</li><li role=tab>conda</li></ul>"
LABELS = "<div><label for=a>pip</label><label for=b>conda</label></div>"
NAMED = "<ul role=tablist><li><a role=tab id=a>pip</a></li><li><a role=tab id=b>conda</a></li></ul>"
PANEL = "<div role=tabpanel aria-labelledby={} {}>{}</div>"
MIXED = (
    "<div><input type=radio id=a name=t><label for=a>pip</label>"
    "<input type=radio id=b name=t><label for=b>conda</label></div>"
)
RADIOS = "<input type=radio id=a name=t><input type=radio id=b name=t>"


def read(middle):
    page = f"<html><body><article>{PROSE * 3}{middle}{PROSE * 3}</article></body></html>"
    return extract_article(page, "https://example.com/").html.replace(PROSE, "")


@pytest.mark.parametrize(
    "tabs",
    [
        f"{TABS}<div><div role=tabpanel>{PIP}</div><div role=tabpanel hidden>{CONDA}</div></div>",
        f"<div>{NAMED}</div>{PANEL.format('a', '', PIP)}{PANEL.format('b', 'hidden', CONDA)}",
        f"<div>{RADIOS}{LABELS}<div><div>{PIP}</div><div>{CONDA}</div></div></div>",
        (
            "<ul><li><a data-toggle=tab href=#x>pip</a></li>"
            "<li><a data-bs-toggle=pill href=#y>conda</a></li></ul>"
            f"<div><div id=x>{PIP}</div><div id=y style='display:none'>{CONDA}</div></div>"
        ),
        f"<div>{MIXED}<div><div>{PIP}</div><div>{CONDA}</div></div></div>",
    ],
)
def test_code_panels_are_listed_with_their_tab_names(tabs):
    text = re.sub("<[^<>]*>", "|", read(tabs))

    assert re.findall(r"[a-z ]{3,}", text) == [
        "pip",
        "pip install mill",
        "conda",
        "conda install mill",
    ]


@pytest.mark.parametrize(
    "tabs",
    [
        f"{TABS}<div><div role=tabpanel>Rye</div><div role=tabpanel hidden>Related</div></div>",
        f"{TABS}<div><div role=tabpanel>{PIP}</div></div><p hidden>Related</p>",
    ],
)
def test_other_hidden_content_stays_hidden(tabs):
    assert "Related" not in read(tabs)


ANSWER = "<p>The answer is of some length, so that a person can read it.</p>"
MENU = "<ul><li><a href=/a>First page</a></li><li><a href=/b>Second page</a></li></ul>"


@pytest.mark.parametrize(
    "page",
    [
        f"<h3><button aria-controls=p>Why?</button></h3><div id=p hidden>{ANSWER}</div>",
        f"<h3><button>Why?</button></h3><div>{ANSWER}</div>",
        f"<button class=accordion>Why?</button><div class=panel hidden>{ANSWER}</div>",
        f"<div role=button aria-controls=p>Why?</div><div id=p aria-hidden=true>{ANSWER}</div>",
        (
            "<h5><a data-toggle=collapse href='#p' role=button>Why?</a></h5>"
            f"<div id=p style='display:none'>{ANSWER}</div>"
        ),
    ],
)
def test_a_panel_is_shown_below_its_button_as_a_heading(page):
    article = read(page)
    assert re.sub("<.*?>", "", article).split("?") == ["Why", re.sub("<.*?>", "", ANSWER)]
    assert re.search(r"<h[2-6][^>]*>(?:<[^>]*>)*Why\?", article)


def test_panels_of_terms_stay_definitions():
    article = read(
        f"<dl><dt><button aria-controls=p>Why?</button></dt><dd id=p hidden>{ANSWER}</dl>"
    )
    assert re.sub("</?(?:span|p)>", "", article).count("<dt>Why?</dt><dd>The answer") == 1


def test_prose_panels_are_listed_with_their_tab_names():
    tabs = f"<div>{NAMED}</div>{PANEL.format('a', '', ANSWER)}{PANEL.format('b', 'hidden', ANSWER)}"
    assert re.findall("pip|conda|The answer", read(tabs)) == [
        *("pip", "The answer"),
        *("conda", "The answer"),
    ]


@pytest.mark.parametrize(
    "beside",
    [
        f"<button aria-controls=m>Menu</button><div id=m hidden>Related {MENU}</div>",
        f"<button aria-controls=m>Join</button><div id=m role=dialog hidden>Related{ANSWER}</div>",
        f"<nav><button aria-controls=m>x</button><div id=m hidden>Related{ANSWER}</div></nav>",
        f"<button aria-controls=m>x</button><form id=m hidden>Related{ANSWER}</form>",
        f"<div hidden>Related{ANSWER}</div>",
        f"<div class=modal aria-hidden=true>Related{ANSWER * 2}</div>",
        "<p>A sentence <span class=sr-only>Related</span>for everybody.</p>",
        (
            "<style>p{margin:0}.k1x9{position:absolute;clip:rect(0 0 0 0);width:1px}</style>"
            "<p>A sentence <span class=k1x9>Related</span>for everybody.</p>"
        ),
        "<p>A sentence <i class=material-icons aria-hidden=true>Related</i>for everybody.</p>",
    ],
)
def test_hidden_menus_dialogs_and_screen_reader_texts_stay_hidden(beside):
    assert "Related" not in read(beside)


@pytest.mark.parametrize(
    "shown",
    [
        f"<div hidden=until-found>{ANSWER}</div>",
        f"<details><summary>Why?</summary>{ANSWER}</details>",
        f"<div aria-hidden=true>{ANSWER * 2}</div>",
        "<p>It costs <span aria-hidden=true>The answer is of some</span> euros.</p>",
        f"<button aria-controls=m>Read more</button><div id=m hidden>{ANSWER}</div>",
    ],
)
def test_visible_text_that_screen_readers_skip_and_searchable_text_are_shown(shown):
    article = read(shown)
    assert "The answer is of some" in article
    assert "Read more" not in article


def test_a_heading_of_split_words_keeps_its_text():
    split = "<h2><span aria-hidden=true>Old </span><span aria-hidden=true>mills</span>{}</h2>"
    article = read(split.format("<span class=sr-only>Old mills</span>"))
    assert re.sub("<[^<>]*>", "", article).strip() == "Old mills"
