"""``references.css`` finds the same URLs as tinycss2, another tokenizer of CSS Syntax 3."""

import re

import pytest
import tinycss2
from hypothesis import given
from hypothesis import strategies as st

from archiver.pages.css_references import rewrite_css
from archiver.pages.references import Use

SETS = {"image-set", "-webkit-image-set", "image", "src"}
PARTS = [
    *"url( URL( u\\72l( src( image-set( -webkit-image-set( image( type( a(".split(),
    *"@import @IMPORT @\\69mport @importx @font-face @media".split(),
    *"( ) [ ] { } ; : , ' \" \\ / # - <!-- --> /* */ /**/ |".split(),
    *"x.png 'a b' \"c\" //h/p #f data:,x é \\66 \\) \\' 1x 10url( 'un \"un".split(" "),
    *" |\n|\r\n|\f|\t".split("|"),
]
ESCAPED_END = re.compile(r"\\(?:[\n\r\f]|\Z)")
"""Escapes that are read differently. tinycss2 accepts an escaped line end in ``url(…)``, where it
makes a bad URL (CSS Syntax 3 §4.3.6). At the end of a sheet an escape means U+FFFD, which we omit.
"""
SHEETS = (
    st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=30)
    .map("".join)
    .filter(lambda sheet: not ESCAPED_END.search(sheet))
)


def found_by_us(sheet):
    results = []
    rewrite_css(
        sheet, lambda value, use: results.append((value, use is Use.STYLE)) if value else None
    )
    return results


def found_by_tinycss2(sheet):
    results = []
    _walk(tinycss2.parse_component_value_list(sheet, skip_comments=True), results)
    return results


def _walk(nodes, expected, name=""):
    """Collect (URL, whether it is a style sheet) from these tokens and their content."""
    is_import = is_namespace = False
    for node in nodes:
        url = _url_of(node)
        if url is None and node.type == "string" and (is_import or name in SETS):
            url = node.value
        if url and not is_namespace:
            expected.append((url, is_import))
        _walk_into(node, expected)
        if node.type == "at-keyword":
            is_import, is_namespace = node.lower_value == "import", node.lower_value == "namespace"
        elif node.type != "whitespace":
            is_import = False
        if node.type == "{} block" or node == ";":
            is_namespace = False


def _url_of(node):
    if node.type == "url":
        return node.value
    if node.type == "function" and node.lower_name == "url":
        first = next((each for each in node.arguments if each.type != "whitespace"), None)
        return first.value if first and first.type == "string" else None
    return None


def _walk_into(node, expected):
    if node.type == "function":
        _walk(node.arguments, expected, node.lower_name)
    elif node.type in {"() block", "[] block", "{} block"}:
        _walk(node.content, expected)


@pytest.mark.parametrize(
    "sheet",
    [
        "@import 'a.css' screen; @import url(b.css); a{b:url( 'x.png' ) url(y) image-set('z' 1x)}",
        "a{b:url(x y) url('ok') \"url(no)\"} /* url(no) */ c{d:u\\72l(e\\29 f)}",
        "@namespace svg url(http://www.w3.org/2000/svg); a{b:url(x",
    ],
)
def test_urls_of_known_sheets_are_those_that_tinycss2_finds(sheet):
    assert found_by_us(sheet) == found_by_tinycss2(sheet) != []


@given(SHEETS)
def test_urls_of_any_sheet_are_those_that_tinycss2_finds(sheet):
    assert found_by_us(sheet) == found_by_tinycss2(sheet)
