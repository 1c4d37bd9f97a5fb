"""All code in tabs is extracted, each block with its tab's name."""

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
        f"<div>{MIXED}<div><div>{PIP}</div><div>{CONDA}</div></div></div>",
    ],
)
def test_code_panels_are_listed_with_their_tab_names(tabs):
    said = re.sub("<[^<>]*>", "|", read(tabs))

    assert re.findall(r"[a-z ]{3,}", said) == [
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
