"""Extracted articles are valid HTML for any page."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser

from archiver.pages.article.elements import EMPHASIS, FLOW, HEADINGS, LINES
from archiver.pages.article.preparation import to_tree
from archiver.pages.article.scoring import make_root
from archiver.pages.article.valid_html import make_valid
from archiver.pages.sanitizer import TAGS, sanitise

_NAMES = (
    sorted(TAGS | {"center", "font", "my-card"} - {"a"})
    + [*"p div span ul li dl dt dd".split()] * 3
)
LINK = '<a href="https://e.org/" rel="noopener noreferrer">'
_ALONE = frozenset("img br hr wbr source col".split())
_ATTRIBUTES = [
    "",
    " id=x",
    " href=#x",
    " src=https://e.org/a.png",
    " srcset='https://e.org/a.png 2x'",
    " rowspan=9",
    " colspan=0",
    " lang=de_DE",
    " datetime=yesterday",
]


def _element(name: str, attributes: str, inner: list[str]) -> str:
    content = "" if name in _ALONE else f"{''.join(inner)}</{name}>"
    return f"<{name}{attributes}>{content}"


_trees = st.recursive(
    st.sampled_from(["words ", "more "]),
    lambda inner: st.builds(
        _element, st.sampled_from(_NAMES), st.sampled_from(_ATTRIBUTES), st.lists(inner, max_size=4)
    ),
    max_leaves=20,
)


def tree_of(html: str) -> Element:
    """Return a fragment as the extraction parses it."""
    body = to_tree(LexborHTMLParser(f"<body><div>{html}</div>"))
    assert body is not None
    return make_root(tuple(body))


def valid(root: Element) -> str:
    """Return a fragment made valid."""
    make_valid(root)
    return sanitise(etree.tostring(root, encoding="unicode", method="html"))


@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ("<span>a<div>b</div>c</span>", "<div>a<div>b</div>c</div>"),
        ("<h2><div>a</div><div>b</div></h2>", "<h2><span>a</span>  <span>b</span> </h2>"),
        ("<h4>a</h4><h3>b</h3><h6>c</h6>", "<h2>a</h2><h2>b</h2><h3>c</h3>"),
        ("<dl><dt>a</dt></dl>", "<dl><dt>a</dt><dd></dd></dl>"),
        ("<dl><dd>a</dd><p>b</p></dl>", "<dl><dt></dt><dd>a</dd><dd><p>b</p></dd></dl>"),
        ("<dl><dt><h3>a</h3></dt><dd>b</dd></dl>", "<div><div><h2>a</h2></div><div>b</div></div>"),
        ("<ul>a<div><li>b</li>c</div></ul>", "<ul><li>a</li><li>b</li><li>c</li></ul>"),
        ("<ol><li>a</li><ol><li>b</li></ol></ol>", "<ol><li>a<ol><li>b</li></ol></li></ol>"),
        ("<div><li>a</li><li>b</li>c</div>", "<div><ul><li>a</li><li>b</li></ul>c</div>"),
        (
            "<main>a<header><footer>b</footer></header></main>",
            "<div>a<header><div>b</div></header></div>",
        ),
        ("<details>a<summary>b</summary></details>", "<details><summary>b</summary>a</details>"),
        ("<details>a</details>", "<div>a</div>"),
        ("<time datetime=soon>a</time>", "<span>a</span>"),
        ("<time datetime=2019-03>a</time>", '<time datetime="2019-03">a</time>'),
        ("<a>a</a><a href=https://e.org/></a>", "a"),
        ("<figcaption>a</figcaption>", "<div>a</div>"),
        (
            "<figure><pre>a</pre><figcaption><span>b.</span><span>c</span></figcaption></figure>",
            "<figure><pre>a</pre><figcaption><span>b.</span> <span>c</span></figcaption></figure>",
        ),
        (
            "<figure><div><pre>a</pre><figcaption>b</figcaption></div>c</figure>",
            "<figure><div><pre>a</pre></div>c<figcaption>b</figcaption></figure>",
        ),
        (
            "<figure><img src=https://e.org/a alt=x></figure><figcaption>b</figcaption>",
            '<figure><img src="https://e.org/a" alt="x"><figcaption>b</figcaption></figure>',
        ),
        (
            "<picture><span><img src=https://e.org/a alt=x></span><source></picture>",
            '<picture><img src="https://e.org/a" alt="x"></picture><span></span>',
        ),
        (
            "<video src=https://e.org/a controls><source src=https://e.org/b>No video?</video>",
            '<video src="https://e.org/a" controls=""></video>',
        ),
        (
            "<video src=https://e.org/a><div><p>What is said.</p></div></video>",
            '<video src="https://e.org/a"></video><div><div><p>What is said.</p></div></div>',
        ),
        (
            "<video src=https://e.org/a><p>Your browser has <b>no</b> film.</p></video>",
            '<video src="https://e.org/a"></video>',
        ),
        (
            "<ins><kbd><ins><p>a</p>c</ins><p>b</p></kbd></ins>",
            (
                "<div><div><div><p><ins><kbd>a</kbd></ins></p><p><ins><kbd>c</kbd></ins></p></div>"
                "<p><ins><kbd>b</kbd></ins></p></div></div>"
            ),
        ),
        (
            "<a href=https://e.org/><img src=https://e.org/i/mill%20race.jpg></a>",
            f'{LINK}<img src="https://e.org/i/mill%20race.jpg" alt="mill race.jpg"></a>',
        ),
        (
            "<table><tr><td rowspan=3>a</td></tr><tr></tr></table>",
            '<table><tbody><tr><td rowspan="1">a</td></tr></tbody></table>',
        ),
    ],
)
def test_misplaced_elements_are_replaced_by_valid_ones(written, becomes):
    assert valid(tree_of(written)) == f"<div><div>{becomes}</div></div>"


@given(st.lists(_trees, max_size=4).map("".join))
@example("<b>a<section><span>b<ul><p>c</ul></section></b>")
@example("<p><em><figure><figcaption>a</figcaption></figure></em>")
@example("<ul><ul><div><li>a</div></ul></ul><dl><div><dt>a<dd>b<dt>c</div>d</dl>")
@example("<ruby>a<rt><p>b</rt></ruby><summary><h2></h2></summary>")
def test_any_article_is_valid(written):
    root = tree_of(written)
    words = sorted(" ".join(root.itertext()).split())
    tree = LexborHTMLParser(f"<body>{valid(root)}</body>")

    assert not tree.css(",".join(f"{line} {block}" for line in EMPHASIS for block in FLOW))
    assert not tree.css(
        ",".join(f"{line} {block}" for line in LINES - {"summary"} for block in FLOW)
    )
    assert not tree.css("ul > :not(li), ol > :not(li), dl > :not(dt, dd), li:not(ul > li, ol > li)")
    assert not tree.css("dt:not(dl > dt), dd:not(dl > dd), dl > dd:first-child, dl > dt:last-child")
    assert not tree.css("figcaption:not(figure > :first-child, figure > :last-child)")
    assert not tree.css(
        "img:not([alt]), a:not([href], svg *), main, picture > :last-child:not(img)"
    )
    assert not tree.css("details:not(:has(> summary:first-child)), summary:not(details > *)")
    levels = [int(each.tag[1]) for each in tree.css(",".join(HEADINGS))]
    assert all(after <= before + 1 for before, after in pairwise([1, *levels]))
    if "<video" not in written and "<audio" not in written:
        assert sorted(tree.body.text(separator=" ").split()) == words


def test_a_heading_nested_in_a_summary_stays_a_heading():
    written = "<details><summary><div><div>1</div><div><h3>Rights</h3></div></div></summary>a"

    html = valid(tree_of(written))

    assert html.count("<h2>Rights</h2>") == 1
    assert "<div>" not in html.partition("</summary>")[0].partition("<summary>")[2]


def test_content_after_an_unclosed_audio_element_is_extracted():
    written = "".join(f"<p>said {n}</p>" for n in range(50))

    html = valid(tree_of(f"<audio src=https://e.org/a.mp3>{written}"))

    assert html.partition("</audio>")[2].count("<p>said ") == 50


def test_empty_header_cells_become_data_cells():
    head = "<tr><th></th><th scope=col> <br></th><th>Mill</th><th><img src=a.png></th></tr>"
    row = "<tr><td>1</td><td>2</td><td>3</td><td>4</td></tr>"

    html = valid(tree_of(f"<table>{head}{row * 3}</table>"))

    assert html.count("<th>") == 2
    assert html.count("<td>") == 14
