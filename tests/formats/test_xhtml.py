"""XHTML of any article is well-formed and valid in an EPUB."""

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from archiver.formats.epub import XHTML, to_xhtml
from archiver.pages.article_text import to_text
from archiver.pages.sanitizer import sanitise

tags = st.sampled_from(
    "p div ul ol li dl dt dd table tr td th figure figcaption em a h2 pre code span blockquote "
    "article header details summary time img br math mi svg path ruby rt video picture".split()
)
attributes = st.sampled_from(
    [
        "",
        ' id="x"',
        ' id="1 2"',
        ' lang="de"',
        ' lang="no such"',
        ' href="#x"',
        ' href="#y"',
        ' href="http://a.example/a|b?c=d&e"',
        ' src="http://a.example/a.png" width="50%"',
        ' datetime="soon" colspan="x"',
        ' viewBox="0 0 1 1"',
    ]
)
pieces = st.one_of(
    st.builds("<{}{}>".format, tags, attributes),
    st.builds("</{}>".format, tags),
    st.sampled_from(["words", " & ", "&lt;b&gt;", "\x0b", "\n", "&nbsp;", "日本"]),
)


def names(body):
    return {each.tag.partition("}")[2] for each in body.iter()}


@given(st.lists(pieces, max_size=30).map("".join))
def test_the_xhtml_is_well_formed_valid_and_keeps_the_text(html):
    clean = sanitise(html)

    body = etree.fromstring(f'<body xmlns="{XHTML}">{to_xhtml(clean)}</body>')

    shown = "".join(body.itertext()).replace("[image not archived]", "")
    assert "".join(shown.split()) == "".join(to_text(clean).replace("\x0b", "").split())
    ids = [each.get("id") for each in body.iter() if each.get("id")]
    assert len(ids) == len({*ids})
    assert not names(body) & {"article", "header", "time", "details", "summary"}
    for element in body.iter(f"{{{XHTML}}}li"):
        assert element.getparent().tag in (f"{{{XHTML}}}ul", f"{{{XHTML}}}ol")
    for element in body.iter(f"{{{XHTML}}}p", f"{{{XHTML}}}em", f"{{{XHTML}}}span"):
        assert not names(element) & {"div", "ul", "ol", "dl", "table", "figure", "blockquote"}
    for link in body.iter(f"{{{XHTML}}}a"):
        href = link.get("href", "#")
        assert href == "#" or href[1:] in ids or "|" not in href


def test_stray_text_in_lists_and_incomplete_definitions_become_valid():
    assert to_xhtml("<ul>one<li>two</li><p>three</p></ul>") == (
        "<ul><li>one</li><li>two</li><li><p>three</p></li></ul>"
    )
    assert to_xhtml("<dl><dt>a</dt><dd>b</dd></dl>") == "<dl><dt>a</dt><dd>b</dd></dl>"
    assert to_xhtml("<dl><dd>b</dd></dl>") == "<div><div>b</div></div>"


def test_a_drawing_keeps_its_coordinates_and_references():
    drawing = '<svg><line x1="1" y1="2"/><path id="p" d="M0 0"/><use xlink:href="#p"/></svg>'
    xhtml = to_xhtml(sanitise(f'{drawing}<math xlink:title="t"></math>'))

    svg, _ = etree.fromstring(f"<body>{xhtml}</body>")
    line, _, use = svg
    assert dict(line.attrib) == {"x1": "1", "y1": "2"}
    assert use.attrib == {"{http://www.w3.org/1999/xlink}href": "#a-p"}
