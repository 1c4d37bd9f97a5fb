import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.pages.css_references import MAX_BUFFERED, CssReferences, may_load, rewrite_css
from archiver.pages.requisites import find_sheet_requisites
from archiver.replay.url_rewriter import UrlRewriter
from tests.rewriting import replay_path

PARTS = re.findall(
    r"\S+",
    r"""url( ) ( ' " \ \75 \000075 @import @\69mport @namespace image-set( -webkit-image-set( url
    src( type( data:, data:x http://a/ //b/ x.png #f /* */ ; { } , 1x :root ident - é \) \'
    <!-- --> ab\63""",
)
SHEETS = st.lists(
    st.sampled_from([*PARTS, " ", "\n", "\r", "\\\n", "\\\r\n"]) | st.text(max_size=4), max_size=24
).map("".join)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a{b:url(x.png)}", "a{b:url(<im_>x.png)}"),
        ("a{b:URL( 'x.png' ) c}", "a{b:URL( '<im_>x.png' ) c}"),
        ('a{b:url("x.png"),url(y)}', 'a{b:url("<im_>x.png"),url(<im_>y)}'),
        ("@import 'a.css' screen;", "@import '<cs_>a.css' screen;"),
        ("@import/**/url(a.css) layer(b);", "@import/**/url(<cs_>a.css) layer(b);"),
        ('@IMPORT  url( "a.css" );', '@IMPORT  url( "<cs_>a.css" );'),
        ("@\\69 mport 'a.css';", "@\\69 mport '<cs_>a.css';"),
        ("a{b:\\75 rl(x)}", "a{b:\\75 rl(<im_>x)}"),
        ("a{b:u\\000072l(x)}", "a{b:u\\000072l(<im_>x)}"),
        ("a{b:url(x\\29 y)}", "a{b:url(<im_>x\\)y)}"),
        ("a{b:url('it\\'s')}", "a{b:url('<im_>it\\'s')}"),
        ("a{b:url('x\\\ny')}", "a{b:url('<im_>xy')}"),
        (
            "image-set('a' 1x, url(b) 2x, 'c' type('image/png'), \"d\"), 'no'",
            "image-set('<im_>a' 1x, url(<im_>b) 2x, '<im_>c' type('image/png'), \"<im_>d\"), 'no'",
        ),
        (
            "-webkit-image-set(url('a') 1x, 'b' 2x) 'no'",
            "-webkit-image-set(url('<im_>a') 1x, '<im_>b' 2x) 'no'",
        ),
        ("a{b:url(x", "a{b:url(<im_>x"),
        ("@import 'x", "@import '<cs_>x"),
        ("--x: url(x)", "--x: url(<im_>x)"),
    ],
)
def test_references_are_rewritten_into_the_archive(css, before, after):
    for modifier in ("im_", "cs_"):
        after = after.replace(f"<{modifier}>", replay_path("", modifier))

    assert css(before) == after


@pytest.mark.parametrize(
    "sheet",
    [
        "",
        "a{color:red}",
        "/* url(x) @import 'y' */",
        "a::before{content:'url(x)'}",
        "a{b:url()}",
        "a{b:url(#f)}",
        "a{b:url(data:image/png;base64,eA==)}",
        "a{b:url(about:blank)}",
        "@namespace svg url(http://www.w3.org/2000/svg);",
        "@namespace 'http://www.w3.org/1999/xhtml';",
        "@charset 'utf-8';",
        "a{b:myurl(x) 10url(y) -url(z)}",
        "a{b:url(x y) url(x(y) url(x'y)}",
        "@import foo 'x';",
        "@importx 'x';",
        "'a\nurl",
    ],
)
def test_text_that_is_not_a_reference_is_unchanged(css, sheet):
    assert css(sheet) == sheet


def test_an_import_after_a_namespace_rule_is_rewritten(css):
    sheet = "@namespace url(n);@import url(x);"

    assert css(sheet) == f"@namespace url(n);@import url({replay_path('x', 'cs_')});"


@pytest.mark.parametrize("opening", ["url(", "url('", "@import '", "image-set('"])
def test_a_too_long_url_is_removed(css, opening):
    end = {"(": ")", "'": "'"}[opening[-1]]
    sheet = f"{opening}http://a/{'b' * MAX_BUFFERED}{end} url(x"

    assert css(sheet).startswith(f"{opening}data:,{end} url(/web/")


def test_a_too_long_url_in_chunks_is_removed():
    sheet = f"url(http://a/{'b' * MAX_BUFFERED}) url(#x)"
    rewriter = CssReferences(UrlRewriter("https://example.com/", "20240229120001").rewrite)

    out = [rewriter.feed(sheet[at : at + 1000]) for at in range(0, len(sheet), 1000)]

    assert "".join(out) + rewriter.close() == "url(data:,) url(#x)"


def test_data_urls_of_any_length_are_streamed():
    rewriter = CssReferences(UrlRewriter("https://example.com/", "20240229120001").rewrite)

    output = rewriter.feed("a{b:url(data:font/woff2;base64," + "A" * 2 * MAX_BUFFERED)

    assert len(output) > 2 * MAX_BUFFERED
    assert rewriter.feed("A)} url(#x)") + rewriter.close() == "A)} url(#x)"


@given(SHEETS, st.integers())
def test_pieces_of_any_size_give_the_same_sheet(css, sheet, seed):
    assert css(sheet, seed=seed) == css(sheet)


@given(SHEETS)
def test_rewriting_is_idempotent(css, sheet):
    rewritten = css(sheet)

    assert css(rewritten) == rewritten


@given(st.text(st.characters(exclude_characters="\\(@")))
def test_a_sheet_without_references_is_unchanged(css, sheet):
    assert css(sheet) == sheet


@given(SHEETS)
def test_every_reference_can_be_replaced(sheet):
    """Every URL is passed to ``lead`` and replaced by its result; nothing else changes.

    A sheet with URLs is recognised without reading it, in any encoding.
    """
    references = []

    def lead(reference, use):
        references.append((reference, use))

    assert rewrite_css(sheet, lead) == sheet
    for text in (sheet, sheet.encode("utf-16").decode("latin-1")):
        assert may_load(text) or not references


@pytest.mark.parametrize(
    "css",
    [
        r"a { background: u\72l(x.png) }",
        r"a { background: \75 \000072\6C(x.png) }",
        r"a { background: U\RL('x.png') }",
        r"@\69mport 'x.png';",
        r"a { background: image-\73 et('x.png' 1x) }",
    ],
)
def test_a_name_with_escapes_is_that_name(css):
    assert [each.url for each in find_sheet_requisites(css, "http://a.example/")] == [
        "http://a.example/x.png"
    ]
