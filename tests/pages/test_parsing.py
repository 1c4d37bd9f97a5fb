"""Input of C parsers is bounded first: attributes per tag, depth, reconstructed elements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from archiver.pages.article_text import to_text
from archiver.pages.parsing import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_MERGED,
    is_too_deep,
    limit_attributes,
    parse,
)
from archiver.pages.requisites import discover_requisites, find_sheet_requisites
from archiver.pages.sanitizer import sanitise

MANY = 20_000
FLOODS = {
    "distinct": " ".join(f"a{n}=1" for n in range(MANY)),
    "bare": " ".join(f"a{n}" for n in range(MANY)),
    "quoted": "".join(f"a{n}='>\"<'" for n in range(MANY)),
    "slashes": "/".join(f"a{n}" for n in range(MANY)),
    "spaced": " ".join(f'a{n} = ">"' for n in range(MANY)),
    "signs": " ".join(f"<{n}" for n in range(MANY)),
}
AROUND = [
    "<p {}>",
    "<svg><style><p {}></style></svg>",
    "<script>'<a b=\"'</script><p {}>",
    "</p {}>",
]
SOUP = st.lists(
    st.sampled_from(
        ["<p ", "<a", "</b ", "<script>", "</script>", "<!--", "-->", ">", "'", '"', "="]
    )
    | st.integers(0, 200).map(lambda count: " ".join(f"x{n}" for n in range(count)) + " "),
    max_size=12,
).map("".join)


def _most(html):
    return max((len(node.attributes) for node in LexborHTMLParser(html).css("*")), default=0)


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize("around", AROUND)
def test_the_number_of_attributes_is_limited(flood, around):
    assert _most(limit_attributes(around.format(flood))) <= 2 * MAX_ATTRIBUTES


@given(SOUP)
def test_the_number_of_attributes_is_limited_in_every_tokenizer_state(html):
    assert _most(limit_attributes(html)) <= 2 * MAX_ATTRIBUTES


def test_attributes_merged_from_several_tags_are_limited():
    html = "".join(f"<body a{n}></body>" for n in range(1000))

    assert _most(limit_attributes(html)) <= MAX_MERGED


@given(st.text(alphabet="<a b=\"'>/ \n", max_size=200))
def test_other_pages_are_unchanged(html):
    assert limit_attributes(html) == html


def test_content_after_a_shortened_script_stays():
    script = "<script>i<r;" + " ".join(f"x{n}" for n in range(500)) + " y='a</script>"

    assert limit_attributes(f"{script}<img src='x.png'>").endswith("</script><img src='x.png'>")


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * (MAX_DEPTH + 1),
        "<div></q>" * (MAX_DEPTH + 1),
        "<x-a></x-b>" * (MAX_DEPTH + 1),
        "".join(f"<b id={n}>" for n in range(1000)) + "<p>x</p>" * MAX_DEPTH,
    ],
    ids=["deep", "closed by others", "custom elements", "formatted again"],
)
def test_markup_that_multiplies_in_a_tree_is_rejected(html):
    assert is_too_deep(html)
    assert discover_requisites(f"{html}<img src=x>", "http://example.com/", 10).requisites == ()


@pytest.mark.parametrize(
    "html",
    ["<div><b>x</b></div>", "<ul><li><p>x</ul>", "<font size=2>x</font><br>", "<br></p>"],
)
def test_a_long_page_is_not_too_deep(html):
    assert not is_too_deep(html * MAX_DEPTH)


@pytest.mark.parametrize(
    "unit", ["url(", "url('", "'\\", "\\", "image-set(", "@import '", "/*", "url(  ", "@font-face{"]
)
def test_css_is_parsed_in_linear_time(unit):
    """A quadratic scan of this input would not finish in practice."""
    assert len(find_sheet_requisites(unit * 30_000, "http://example.com/")) < 2


@pytest.mark.parametrize("value", [",", " ", "a (", "a 1x,", "a()", "(", "a,"], ids=repr)
def test_srcset_is_parsed_in_linear_time(value):
    html = f"<img srcset='{value * 50_000}'>"

    assert len(discover_requisites(html, "http://example.com/", 10).requisites) < 3


@pytest.mark.parametrize("unit", ["<!--", "<a ", "<a '", '<a "', "<"])
def test_text_is_extracted_in_linear_time(unit):
    assert isinstance(to_text(unit * 30_000), str)
    assert isinstance(sanitise(unit * 30_000), str)


@pytest.mark.parametrize(
    ("hosted", "shown"),
    [
        ("<template shadowrootmode=open><p>A<slot>none</slot></p></template>B", "<p>AB</p>"),
        ("<template shadowrootmode=closed><slot>A</slot></template>", "<slot>A</slot>"),
        (
            (
                "<template shadowrootmode=open><slot name=n></slot><slot></slot></template>"
                "A<b slot=n>B</b><i slot=x>C</i>"
            ),
            '<b slot="n">B</b>A',
        ),
        ("<template shadowrootmode=open>A</template>B", "A"),
        (
            "<template shadowrootmode=no>A</template>B",
            '<template shadowrootmode="no">A</template>B',
        ),
        (
            (
                "<template shadowrootmode=open><x-b><template shadowrootmode=open><i><slot></slot>"
                "</i></template><slot></slot></x-b></template>A"
            ),
            "<x-b><i>A</i></x-b>",
        ),
        ("<template>A</template>B", "<template>A</template>B"),
    ],
)
def test_declarative_shadow_roots_are_parsed_as_they_are_displayed(hosted, shown):
    page = parse(f"<body><x-a>{hosted}</x-a>")
    assert page is not None
    assert page.css_first("body").html == f"<body><x-a>{shown}</x-a></body>"
