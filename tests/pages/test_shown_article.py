import pytest

from archiver.pages.sanitizer import sanitise
from archiver.pages.shown_article import MAX_HEADINGS, ArticleTree, links_of, without_title

KEY = "0" * 32
GONE = '<p><span class="lost" role="img" aria-label="No One"></span></p>'
HELD = {"http://a.example/x?a&b": KEY}


def changed(html, change):
    tree = ArticleTree(html)
    change(tree)
    return tree.html()


def linked(html):
    return changed(html, lambda tree: tree.link_to_entries(HELD))


def scrollable(html):
    return changed(html, ArticleTree.make_scrollable)


def name_images(html):
    return changed(html, ArticleTree.name_images)


def without_lost(html, lost):
    return changed(html, lambda tree: tree.replace_lost_images(lost, "No {}".format))


def test_a_drawing_keeps_its_prefixed_attributes_and_the_article_its_markup():
    html = sanitise(
        '<p>a <b>c</b></p><svg xml:lang="de"><path id="p" d="M0 0"/><use xlink:href="#p"/></svg>'
    )

    assert 'xml:lang="de"' in html
    assert 'xlink:href="#a-p"' in html
    assert ArticleTree(html).html() == html


def test_an_unchanged_article_is_serialised_unchanged():
    html = sanitise(
        '<p title="a &lt; b">a<br>b&nbsp;c &amp;amp; <wbr></p>'
        '<picture><source srcset="http://a/ 1x">'
        '<img src="http://a/1" alt=""></picture><svg viewBox="0 0 1 1"><linearGradient/></svg>'
        "<table><tr><td>x</table><a href='http://b/'><div>y</div></a><math><mspace/></math>"
    )

    assert ArticleTree(html).html() == html


def test_unbalanced_markup_is_repaired():
    assert ArticleTree("<p>a<b>c<p>d").html() == sanitise("<p>a<b>c<p>d")


def test_links_to_saved_pages_lead_to_their_entries_and_fragments():
    html = sanitise(
        '<p><a href="http://a.example/x?a&amp;b#p%20q" title="t">kept</a> '
        '<a href="http://b.example/">live</a> <a href="#n">note</a></p>'
    )

    written = linked(html)

    assert (
        f'<a class="archived-link" href="/{KEY}/#a-p%20q" title="http://a.example/x?a&amp;b">'
        in written
    )
    assert 'href="http://b.example/" rel="noopener noreferrer">live' in written
    assert 'href="#a-n"' in written
    assert links_of(html, 9) == ["http://a.example/x?a&b", "http://b.example/"]
    assert links_of(html, 1) == ["http://a.example/x?a&b"]


def test_only_links_to_saved_pages_are_marked_as_saved():
    html = sanitise(
        '<a href="http://a.example/x?a&amp;b" title="t">kept</a> <a href="/" title="u">not</a>'
    )

    described = changed(
        linked(html), lambda tree: tree.describe_links(lambda url: f'Here: "{url}"')
    )

    assert 'title="Here: &quot;http://a.example/x?a&amp;b&quot;">kept' in described
    assert 'title="u">not' in described


def test_code_and_tables_can_be_reached_without_a_mouse():
    assert scrollable('<pre class="a">x</pre><p>&lt;pre&gt;</p><table><tr></tr></table>') == (
        '<pre class="a" tabindex="0">x</pre><p>&lt;pre&gt;</p><table tabindex="0"><tr></tr></table>'
    )


def test_missing_images_are_reported_and_not_requested():
    image, missing_url = '<img src="http://a.example/1" alt="One">', "http://a.example/2?a&b"
    html = f'{image}<img alt="A &quot;fox&quot;" src="http://a.example/2?a&amp;b">'

    without_image = without_lost(html, {missing_url})

    words = "No A &quot;fox&quot;"
    assert without_image == f'{image}<span class="lost" role="img" aria-label="{words}"></span>'
    assert without_lost(html, ()) == html


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<img src="{l}1" srcset="{l}1 1x, {l}2 2x" alt="One">', GONE),
        (
            '<img src="{l}1" srcset="{l}1 1x, {k}2 2x" alt="One">',
            '<img srcset="{k}2 2x" alt="One" src="{k}2">',
        ),
        (
            '<img src="{k}1" srcset="{k}1 1x, {l}2 2x" alt="One">',
            '<img src="{k}1" srcset="{k}1 1x"',
        ),
        (
            '<img src="{l}1" srcset="{k}1?a=1&amp;b, {l}2 2x" alt="One">',
            'src="{k}1?a=1&amp;b">',
        ),
        ('<picture><source srcset="{l}1 1x"><img src="{l}2" alt="One"></picture>', GONE),
        (
            '<picture><source srcset="{k}1 1x"><img src="{l}2" alt="One"></picture>',
            '<img alt="One" src="{k}1">',
        ),
        ('<picture><source srcset="{l}1"><img src="{k}2" alt="One"></picture>', '><img src="{k}2"'),
    ],
)
def test_only_archived_sizes_of_an_image_stay(markup, expected):
    targets = {"l": "http://lost.example/", "k": "http://kept.example/"}
    lost = {"http://lost.example/1", "http://lost.example/2"}

    shown_html = without_lost(f"<p>{markup.format_map(targets)}</p>", lost)

    assert expected.format_map(targets) in shown_html
    assert "lost.example" not in shown_html


def test_an_image_without_text_is_named_by_its_file():
    url = "https://example.org/a/a%20fox%00%22.jpg?w=3"
    assert name_images(f'<p><img src="{url}" width="3"></p>') == (
        f'<p><img src="{url}" width="3" alt="a fox&quot;.jpg"></p>'
    )


@pytest.mark.parametrize("alt", ["", "a fox"])
def test_an_image_with_a_text_or_an_empty_text_keeps_it(alt):
    image = f'<img src="https://example.org/fox.jpg" alt="{alt}">'
    assert name_images(image) == image


def test_long_formulas_can_be_reached_by_keyboard_and_short_ones_cannot():
    short, long = (
        f'<math display="block"><mrow>{"<mi>x</mi><mo>+</mo>" * n}</mrow></math>' for n in (3, 30)
    )
    inline = long.replace("block", "inline")

    assert scrollable(f"<p>{short} {long} {inline}</p>") == (
        f'<p>{short} <span class="formula" tabindex="0">{long}</span> {inline}</p>'
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Kites</h2><h3>Red</h3><h4>x</h4><h3>y</h3>", "<h2>Red</h2><h3>x</h3><h2>y</h2>"),
        ("<h2>Kites</h2><h3>Red</h3><h2>y</h2>", "<h3>Red</h3><h2>y</h2>"),
        ("<h2>Owls</h2><h3>Red</h3>", "<h2>Owls</h2><h3>Red</h3>"),
        ("<h2>Kites</h2><hr>", "<hr>"),
        ("<div><p>3 May</p><h2>Kites</h2><p>x</p></div>", "<div><p>3 May</p><p>x</p></div>"),
        ("<p>3 May</p><h2>K</h2>", "<p>3 May</p><h2>K</h2>"),
        ("<header>\n<h2>Kites</h2>\n</header>\n<p>x</p>", "<p>x</p>"),
        ("<header><h2>Kites</h2><img></header><p>x</p>", "<header><img></header><p>x</p>"),
        ('<h2><img src="a"></h2><p>x</p>', '<h2><img src="a"></h2><p>x</p>'),
        (f"<p>{'3 May ' * 12}</p><h2>Kites</h2>", f"<p>{'3 May ' * 12}</p><h2>Kites</h2>"),
    ],
)
def test_headings_below_the_title_are_levelled(html, expected):
    assert without_title(html, "Kites") == expected


@pytest.mark.parametrize(
    ("words", "title", "stays"),
    [
        ("I", "In the wood", True),
        ("2", "2024 in review", True),
        ("I", "In the wood, part I", False),
        ("wood", "The wood \u2013 Tales", False),
        ("\u9ce5", "\u9ce5\u306e\u6b4c", False),
    ],
)
def test_a_heading_that_is_part_of_a_title_word_stays(words, title, stays):
    assert without_title(f"<h2>{words}</h2><p>x</p>", title).startswith("<h2>") is stays


def test_every_heading_has_an_id_and_an_outline_level():
    html = '<h2 id="a-x">One <em>and</em> two</h2><h4>Deep</h4><h3>A &amp; B</h3><h2> </h2>'
    tree = ArticleTree(sanitise(html))

    result = tree.add_heading_ids()

    assert [(each.id, each.words, each.depth) for each in result] == [
        ("a-x", "One and two", 0),
        ("h-2", "Deep", 2),
        ("h-3", "A & B", 1),
    ]
    assert 'h4 id="h-2">Deep' in tree.html()
    assert tree.html().count("id=") == 3


def test_the_number_of_headings_is_limited():
    result = ArticleTree("<h2>x</h2>" * (MAX_HEADINGS + 9)).add_heading_ids()

    assert len(result) == MAX_HEADINGS
