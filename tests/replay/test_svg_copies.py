"""Copies of elements of other SVG files."""

import re
from html import unescape
from time import process_time
from urllib.parse import unquote

import pytest

from archiver.pages.references import Use
from archiver.replay.html_rewriter import HtmlRewriter, rewrite_data_url
from archiver.replay.svg_copies import MAX_FILES, SvgCopies
from archiver.replay.url_rewriter import Embedding, UrlRewriter
from tests.rewriting import PAGE, TIMESTAMP, replay_path

FILE = """<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "<symbol id='no'/>">]>
<svg id="root" xmlns="http://www.w3.org/2000/svg"><!-- <symbol id="no"> -->
<symbol id="one"><path d="M0"/></symbol><symbol id='two'><use href="#one"/><g fill='url(#three)'/>
<image href="i.png"/></symbol><g id="é"><g id="in"/></g>
<linearGradient id="three"><stop/></linearGradient><filter id="four"><feFlood/></filter>
<symbol id="bad"><div>x</div></symbol><svg:symbol id="named"><svg:path/></svg:symbol>
<symbol id="script"><script href="s.js">x</script><a onclick="x" href="javascript:x"/></symbol>"""
STYLED = """<svg xmlns="http://www.w3.org/2000/svg"><style>p{fill:red}</style><g id="a"><style>
<![CDATA[a>b{c:url(#a)}]]></style><g class="p"/></g></svg>"""
BIG = f"<svg><g id='a'>{'<g/>' * 500}</g><g id='b'>{'<g/>' * 45_000}</g></svg>"


@pytest.fixture
def links():
    def read(url):
        files = {"dir/s.svg": FILE, "dir/styled.svg": STYLED, "big": BIG}
        return files.get(url.removeprefix("https://example.com/"), "")

    embedding = Embedding("http://here.example", rewrite_data_url, SvgCopies(read))
    return UrlRewriter(PAGE, TIMESTAMP, embedding=embedding)


def rewritten(links, markup):
    rewriter = HtmlRewriter(links)
    return rewriter.feed(markup) + rewriter.close()


@pytest.mark.parametrize(
    ("reference", "copy"),
    [
        ("s.svg#one", '<symbol id="archived-0-one"><path d="M0"/></symbol>'),
        ("./s.svg#in", '<g id="archived-0-in"/>'),
        ("s.svg#%C3%A9", '<g id="archived-0-&#233;"><g id="archived-0-in"/></g>'),
        ("s.svg#named", '<symbol id="archived-0-named"><path/></symbol>'),
    ],
)
def test_a_use_of_another_file_gets_a_copy_of_what_it_names(links, reference, copy):
    html = rewritten(links, f'<svg><use xlink:href="{reference}" /></svg>')

    name = unescape(re.search(r'id="([^"]*)"', copy)[1])
    assert html == f'<svg><defs>{copy}</defs><use xlink:href="#{name}" /></svg>'


def test_the_styles_of_a_file_apply_only_to_its_copies(links):
    html = rewritten(links, "<svg><use href=styled.svg#a />")

    name = "archived-0-a"
    assert html == (
        f'<svg><defs><g id="{name}"><g class="p"/></g><style>@scope ([id="{name}"]) {{'
        "p{fill:red}\n"
        f'a>b{{c:url(#{name})}}}}</style></defs><use href="#{name}" />'
    )


def test_a_copied_element_includes_what_it_references(links):
    html = rewritten(links, "<svg><use href=s.svg#two></use></svg>")

    assert 'href="#archived-0-one"' in html
    assert "url(#archived-0-three)" in html
    assert '<symbol id="archived-0-one">' in html
    assert '<linearGradient id="archived-0-three">' in html
    assert f'<image href="{replay_path("i.png", "im_")}"/>' in html


def test_scripts_in_a_copy_are_disabled(links):
    html = rewritten(links, "<svg><use href=s.svg#script />")

    assert ' type="text/x-archived-script"' in html
    assert not re.search(r" (onclick|href)=.(javascript:|x)", html)


@pytest.mark.parametrize(
    "reference", ["s.svg#no", "s.svg#bad", "other.svg#one", "#one", "", "big#b", "//[#a"]
)
def test_what_is_missing_too_long_or_ends_the_drawing_is_not_copied(links, reference):
    assert "<defs>" not in rewritten(links, f'<svg><use href="{reference}" /></svg>')


def test_a_reference_to_the_page_itself_stays_in_the_page(links):
    markup = f"<svg><use href='{PAGE}#a' /><g fill='url({PAGE}#b)' style='mask:url(page.html#c)' />"

    assert rewritten(links, markup) == (
        "<svg><use href='#a' /><g fill='url(#b)' style='mask:url(#c)' />"
    )


def test_a_long_copy_is_not_repeated(links):
    html = rewritten(links, "<svg><use href=/big#a /><use href=/big#a />")

    assert html.count("<defs>") == 1
    assert html.count('<use href="#archived-0-a" />') == 2


def test_a_filter_of_another_file_becomes_a_data_url(links):
    result = links.rewrite("s.svg#four", Use.PAINT)

    assert unquote(result).endswith('<filter id="four"><feFlood/></filter></svg>#four')
    assert links.rewrite("s.svg#one", Use.PAINT) == replay_path("s.svg#one", "im_")


def test_only_so_many_files_are_read():
    read = []
    copies = SvgCopies(lambda url: read.append(url) or FILE)

    results = [copies.included(str(number), "one") for number in range(MAX_FILES + 1)]

    assert len(read) == MAX_FILES
    assert [each is None for each in results] == [False] * MAX_FILES + [True]


@pytest.mark.parametrize(
    "text",
    [
        "<svg>" + "<!--" * 50_000,
        "<g>" * 50_000,
        "<g id='a" * 30_000,
        "<svg>" + "<g id='a'>" * 250 + "</x>" * 40_000,
        "<svg>" + "<g id='a'/>" * 20_000 + "<g id='b'><use href='#a'/></g>",
    ],
    ids=["comments", "open", "attributes", "ends", "ids"],
)
def test_a_hostile_file_takes_time_in_proportion_to_its_length(text):
    copies = SvgCopies(lambda _: text)
    start = process_time()

    copies.included("x", "b")

    assert process_time() - start < 5
