"""Metadata is read from every place that pages use, and from no other."""

import json

import pytest

from archiver.model.page import PageMetadata
from archiver.pages.metadata import read_metadata
from archiver.pages.parsing import parse
from archiver.pages.requisites import discover_requisites


def read(html: str) -> PageMetadata:
    page = parse(html)
    assert page
    return read_metadata(page, "https://a.example/articles/1")


def linked(**data: object) -> str:
    return f"<script type='application/ld+json'>{json.dumps({'@type': 'Article', **data})}</script>"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (linked(headline="The mill"), "The mill"),
        (
            linked(headline="A building", name="The mill") + "<title>The mill - Site</title>",
            "The mill",
        ),
        ("<meta property=og:title content='The mill'><title>x</title>", "The mill"),
        ("<meta name=citation_title content='The mill'><title>Journal</title>", "The mill"),
        ("<meta name=dc.title content='H&lt;sub&gt;2&lt;/sub&gt;O'><h1>H<sub>2</sub>O", "H2O"),
        ("<title>&lt;b&gt; and &lt;/b&gt;</title><h1>&lt;b&gt; and &lt;/b&gt;", "<b> and </b>"),
        ("<title>A &lt;b&gt; tag</title>", "A <b> tag"),
        ("<title>The mill | Site</title><h1>The mill</h1>", "The mill"),
        ("<title>The mill | Site</title><h1>Site</h1>", "The mill | Site"),
        ("<meta property=og:title content='https://e.org/mill'><h1>The mill</h1>", "The mill"),
        ("<title>www.example.org/mill</title><h1>The mill</h1>", "The mill"),
        ("<svg><title>Menu</title></svg><h1>The mill</h1>", "The mill"),
        ("<svg><title>Menu</title></svg><title>The mill</title>", "The mill"),
        ("<h1><svg><title>Menu</title></svg> The mill</h1>", "The mill"),
        ("<title>Site: The mill</title><h1>The mill</h1>", "The mill"),
        ("<title>The mill \u2022 Site</title><h1>The mill</h1>", "The mill"),
        ("<title>Mills - a guide - Site</title><h1>Mills - a guide</h1>", "Mills - a guide"),
        (
            linked(headline="Another page") + "<title>The mill | Site</title><h1>The mill</h1>",
            "The mill",
        ),
        (linked(headline="Another page") + linked(headline="A mill") + "<title>A mill", "A mill"),
        (linked(headline="Mills") + "<title>Old mills - Mills</title><h1>Old mills", "Old mills"),
        (
            linked(headline="A mill").replace("'>{", "'><!-- {").replace("}</", "} --></"),
            "A mill",
        ),
        (
            "<svg><g><title>x</title></g></svg><title>The mill | Site</title><h1>The mill",
            "The mill",
        ),
    ],
)
def test_a_title_is_the_name_of_the_page_and_not_its_url(html, title):
    assert read(html).title == title


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (linked(headline="Ann&#8217;s mill &amp; more"), "Ann\u2019s mill & more"),
        (linked(headline="&#12371;&#x3053;"), "\u3053\u3053"),
        (linked(headline="Mills &amp; more") + "<h1>Mills &amp; more</h1>", "Mills & more"),
        ("<meta property=og:title content='A &amp;amp;amp; B'>", "A &amp; B"),
        (linked(headline="A &amp;amp; B") + "<title>A &amp; B</title>", "A & B"),
        ("<title>The &amp;amp; sign</title><h1>The &amp;amp; sign</h1>", "The &amp; sign"),
        ("<title>AT&T; and R&D</title>", "AT&T; and R&D"),
    ],
)
def test_character_references_in_a_title_are_decoded_once(html, title):
    assert read(html).title == title


def test_other_metadata_that_is_escaped_twice_is_decoded_too():
    json_ld = linked(
        headline="x", author="Ann &amp; Bob", description="It&#39;s", publisher={"name": "M&amp;N"}
    )
    result = read(json_ld)
    assert (result.byline, result.excerpt, result.site) == ("Ann & Bob", "It's", "M&N")


FRAMED = """<script type='application/ld+json'><![CDATA[
{"@type": "Article", "headline": "x", "author": "Ann Author"}
]]></script>"""


@pytest.mark.parametrize(
    "html",
    [
        linked(headline="x", author={"name": "Ann Author"}),
        linked(headline="x", author=["Ann Author"]),
        FRAMED,
        "<meta name=author content='by Ann Author'>",
        "<p class=byline>By <a rel=author href=x>Ann Author</a> May 4, 2019 10:00</p>",
        "<span class=post-byline>By Ann Author \u2022 8h</span>",
        "<p itemprop=author><b itemprop=name>Ann Author</b>, Editor</p>",
    ],
)
def test_an_author_is_only_a_name(html):
    assert read(html).byline == "Ann Author"


@pytest.mark.parametrize(
    ("names", "byline"),
    [
        (["Ann Author", "Ben Writer", "Ann Author"], "Ann Author, Ben Writer"),
        (["Author, A.", "Writer, B."], "Author, A.; Writer, B."),
        (["Ann Author", "https://example.com/ben"], "Ann Author"),
    ],
)
def test_all_declared_authors_are_found(names, byline):
    page = "".join(f'<meta name="DC.Creator" content="{each}">' for each in names)

    assert read(page).byline == byline


def test_a_specific_title_is_preferred_to_a_generic_one():
    field = '<meta property="og:title" content="A handbook | of knots">'
    heading = "<h1>Bowlines <a href=#b>&#8203;</a></h1>"

    assert (
        read(f"<title>Bowlines | Handbook</title>{field}{heading}").title == "Bowlines | Handbook"
    )
    assert read(f"<title>Handbook</title>{field}{heading}").title == "A handbook | of knots"


def test_the_first_of_several_headings_does_not_identify_the_site_name():
    site = "<h1><a href=/>The handbook of things</a></h1>"
    title = "<title>Knots \u2014 The handbook of things</title>"

    assert read(title + site + "<h1>Knots</h1>").title == "Knots \u2014 The handbook of things"
    assert read(title + "<h1>Knots</h1><h1>Beyond</h1>").title == "Knots"


@pytest.mark.parametrize(
    "html",
    [
        linked(headline="x", datePublished="2019-05-04"),
        "<meta property=article:published_time content=2019-05-04>",
        "<time itemprop=datePublished datetime=2019-05-04>May</time>",
        "<article><time datetime=2019-05-04>May</time></article>",
        linked(headline="x", datePublished="soon") + "<time class=published>May 4, 2019</time>",
    ],
)
def test_a_date_is_found_in_every_place(html):
    assert read(html).published == "2019-05-04"


def test_an_invalid_date_is_not_shown():
    assert read("<meta name=date content='article.date.isoformat()'>").published == ""


@pytest.mark.parametrize("name", ["image", "author", "publisher"])
@pytest.mark.parametrize("depth", [70, 700, 70_000])
def test_an_endless_description_is_ignored(name, depth):
    data = f'{{"@type": "Article", "headline": "Deep", "{name}": {"[" * depth}1{"]" * depth}}}'
    page = f"<title>Kept</title><img src=a.png><script type='application/ld+json'>{data}</script>"

    requisites = discover_requisites(page, "https://a.example/", 9)

    assert requisites.metadata.title == "Kept"
    assert [each.url for each in requisites.requisites] == ["https://a.example/a.png"]
