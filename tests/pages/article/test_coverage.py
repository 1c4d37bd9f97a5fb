"""A choice is widened if the rest of the page has much more prose."""

import pytest
from lxml import html

from archiver.pages.article.scoring import Coverage, measure_all

POST = f"<p class=post>{'The mill stood by the river and ground. ' * 3}</p>"
LINKS = f"<p class=post><a href=/>{'Other mills and other rivers. ' * 9}</a></p>"


@pytest.mark.parametrize(
    ("beside", "series"),
    [
        (f"<div>{POST}</div>" * 3, "thread"),
        (f"<div>{POST}</div>" * 2, None),
        (f"<div>{LINKS}</div>" * 3, None),
        (f"<div><div>{POST}</div></div>" * 3, None),
        (f"<div>{POST * 2}</div>" * 3, "thread"),
        ("<div><p class=post>Yes.</p></div>" * 9, None),
    ],
)
def test_elements_of_the_same_class_and_depth_belong_together(beside, series):
    thread = f"<div id=thread><div id=top>{POST * 1}</div>{beside}</div>"
    body = html.document_fromstring(f"<body><p>Boards</p>{thread}</body>").find("body")
    top = body.get_element_by_id("top")[0]

    found = Coverage(body, measure_all(body)).series_of(top)

    assert (found.get("id") if found is not None else None) == series
