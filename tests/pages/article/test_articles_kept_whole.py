"""All content of an article is extracted, however the page marks it up."""

import re
import unicodedata

import pytest

from archiver.pages.article.extraction import extract_article
from archiver.pages.article.formulas import MAX_FORMULA

URL = "https://example.com/deep/page.html"
PROSE = (
    "<p>" + "The mill stood by the river, and ground what the valley grew, each year. " * 4 + "</p>"
)


def read(middle: str, head: str = "", around: str = "{}") -> str:
    """Return the article of a page with content between paragraphs, without these paragraphs."""
    body = around.format(f"<article>{PROSE * 3}{middle}{PROSE * 3}</article>")
    html = extract_article(f"<html><head>{head}</head><body>{body}</body></html>", URL).html
    return html.replace(PROSE, "")


@pytest.mark.parametrize(
    ("written", "source"),
    [
        ('<img src="a.png">', "https://example.com/deep/a.png"),
        ('<img src="data:," data-src="a.png">', "https://example.com/deep/a.png"),
        ('<img srcset="s.png 1x, l.png 2x">', "https://example.com/deep/l.png"),
        ('<img srcset="s.png 100w,l.png 900w">', "https://example.com/deep/l.png"),
        ('<picture><source srcset="l.webp"><img></picture>', "https://example.com/deep/l.webp"),
        (
            '<img class=lazy><noscript><img src="a.png"></noscript>',
            "https://example.com/deep/a.png",
        ),
        ('<figure style="background-image:url(a.png)"></figure>', "https://example.com/deep/a.png"),
        ('<amp-img src="a.png" width=9 height=9></amp-img>', "https://example.com/deep/a.png"),
        (
            "<amp-img srcset='s.png 1x, a.png 2x'><amp-img src=t.png></amp-img></amp-img>",
            "https://example.com/deep/a.png",
        ),
        (
            '<amp-img src=b.png><noscript><img src="a.png"></noscript></amp-img>',
            "https://example.com/deep/a.png",
        ),
        *(
            (f'<img src="data:," {name}="a.png">', "https://example.com/deep/a.png")
            for name in (
                *("data-lazyload", "data-echo", "data-ezsrc", "data-opt-src", "nitro-lazy-src"),
                *("data-flickity-lazyload", "data-large-file", "data-actualsrc", "zoomfile"),
                *("data-full-url", "data-spai-src", "data-default-src", "loadlate"),
            )
        ),
        *(
            (written, "https://example.com/deep/a.png")
            for written in (
                "<img src=thumb.jpg data-full=a.png>",
                "<img class='lazy blur-up' src=b.png data-original=a.png>",
                "<img src=1.gif data-mars-src=a.png>",
                "<img class=lazyload src=a.png data-src='a_{width}x.png'>",
                "<img src=dot.gif width=1 height=1 data-src=a.png>",
                "<span class=image data-src=a.png></span>",
                "<div data-img-url=a.png></div>",
                "<lazy-image src=a.png><canvas></canvas></lazy-image>",
                "<x-picture data-src=a.png></x-picture>",
                "<object data=a.png type=image/png><i></i></object>",
                "<figure><div role=img style='background-image: url(a.png)'></div></figure>",
            )
        ),
        ("<img data-cfsrc=a.png style='display:none'>", "https://example.com/deep/a.png"),
        ("<picture><source srcset='a.png 9w'></picture>", "https://example.com/deep/a.png"),
        ("<div data-bg='url(a.png)'></div>", "https://example.com/deep/a.png"),
        ("<div data-bgset='a.png 9w'></div>", "https://example.com/deep/a.png"),
        ("<svg width=90><image href=a.png></image></svg>", "https://example.com/deep/a.png"),
        ("<img class=needInitShare_share src=a.png>", "https://example.com/deep/a.png"),
        ("<img src='data:,'><img src=a.png>", "https://example.com/deep/a.png"),
        (
            (
                "<div><img class=thumbnail src=t.png><canvas></canvas><img data-src=a.png>"
                "<noscript><img src=a.png></noscript></div>"
            ),
            "https://example.com/deep/a.png",
        ),
        (f'<img src="data:image/png;base64,{"A" * 900}">', f"data:image/png;base64,{'A' * 900}"),
    ],
)
def test_lazily_loaded_pictures_are_extracted(written, source):
    article = read(written)

    assert f'src="{source}"' in article
    assert article.count("<img") == 1


def test_a_picture_appears_once_with_its_size():
    article = read(
        '<img class=lazy width=600 style="height: 400px">'
        '<noscript><img src="a.png"></noscript><img src=dot.gif width=1 height=1>'
    )

    assert article.count("<img") == 1
    assert 'width="600"' in article


def test_blurred_placeholders_are_removed():
    size = "width=900 height=600"

    article = read(
        f"<figure><div><div><img src=tiny.png {size}></div><img {size}>"
        f"<noscript><img src=large.png {size}></noscript></div></figure>"
        f"<p><img src=own.png width=90 height=60></p><img {size}>"
        f"<noscript><img src=next.png {size}></noscript>"
    )

    assert re.findall(r'src="[^"]*/(\w+)\.png"', article) == ["large", "own", "next"]


@pytest.mark.parametrize(
    "part",
    [
        "<h2>A</h2>",
        "<figure><img src='https://e.org/a.png' alt=''><figcaption>A</figcaption></figure>",
        "<dl><dt>A</dt><dd>B</dd></dl>",
        "<ul><li>A</li><li>B</li></ul>",
        "<table><thead><tr><th>A</th></tr></thead><tbody><tr><td>B</td></tr></tbody></table>",
        "<blockquote><p>A</p></blockquote>",
        "<pre>A</pre>",
        "<details><summary>A</summary>B</details>",
    ],
)
def test_short_content_is_kept(part):
    article = read(part).removeprefix("<article>").removesuffix("</article>")

    assert article == part.replace("'", '"')


def test_a_gallery_of_pictures_that_link_to_larger_ones_stays():
    links = "".join(f"<a href='{n}.jpg'><img src='{n}s.jpg'></a>" for n in range(12))

    assert read(f"<div class='images'>{links}</div>").count("<img") == 12


def test_a_notebook_is_read_cell_by_cell():
    cells = "".join(
        f"<div class='cell'><div class='prompt'></div><div class='text_cell_render'><p>{word} is "
        f"explained here, at some length, before the code that does it.</p></div></div>"
        f"<div class='cell'><div class='input_area'><div class='highlight hl-ipython3'><pre>"
        f"<span>for</span> x in {word}:\n    print(x)</pre></div></div>"
        f"<div class='output_area'><img src='data:image/png;base64,{word}{'A' * 900}'></div></div>"
        for word in ("one", "two", "three", "four", "five", "six")
    )
    page = f"<body><nav><a href=/>Home</a></nav><div id=notebook>{cells}</div></body>"

    article = extract_article(page, URL).html

    assert article.count('<pre><code class="language-ipython3">for x in') == 6
    assert article.count("<img") == 6
    assert article.count("is explained here") == 6
    assert "Home" not in article


def test_navigation_share_bars_related_links_and_comments_are_removed():
    beside = (
        "<div class=share-buttons><a href=x>Share</a></div>"
        "<div class=related><ul><li><a href=x>Elsewhere</a></li></ul></div>"
        "<nav><a href=x>Menu</a></nav><form><input name=q><button>Subscribe</button></form>"
        "<section class=comments><p>First!</p></section>"
    )

    article = read(beside, around=f"<header class=site-header>Logo</header>{{}}{beside}")

    for word in ("Share", "Elsewhere", "Menu", "Subscribe", "First!", "Logo"):
        assert word not in article


def test_footnotes_link_in_both_directions():
    article = read(
        '<p>Said<sup id="r1"><a href="page.html#n1">1</a></sup></p>'
        '<aside class="footnotes"><ol><li id="n1">Note <a href="#r1">back</a></li></ol></aside>'
        '<p><a name="old">Old</a> <a href="#old">to it</a></p>'
    )

    for name in ("n1", "r1", "old"):
        assert f'id="a-{name}"' in article
        assert f'href="#a-{name}"' in article


@pytest.mark.parametrize(
    ("frame", "page", "title"),
    [
        (
            '<iframe src="//www.youtube.com/embed/abc_-123">',
            "https://www.youtube.com/watch?v=abc_-123",
            "",
        ),
        (
            '<iframe src="https://player.vimeo.com/video/12" title="Us">',
            "https://vimeo.com/12",
            "Us",
        ),
        (
            '<iframe data-src="https://e.org/x" src="https://e.org/player/x">',
            "https://e.org/player/x",
            "",
        ),
    ],
)
def test_an_embed_becomes_a_card_with_its_host_and_a_link(frame, page, title):
    article = read(f"<p>{frame}</iframe></p>")

    link = re.search(r'<a class="embed" href="([^"]*)"[^>]*>([^<]*)</a>', article)
    assert link
    assert link[1].endswith(page.removeprefix("https:"))
    assert title in link[2]


@pytest.mark.parametrize(
    ("widget", "page", "title"),
    [
        (
            "<script src=https://gist.github.com/ann/0123abcd.js?file=a.py></script>",
            "https://gist.github.com/ann/0123abcd?file=a.py",
            "gist.github.com",
        ),
        (
            "<p><script src=https://gist.github.com/0123abcd.js></script></p>",
            "https://gist.github.com/0123abcd",
            "gist.github.com",
        ),
        (
            "<lite-youtube videoid=abc_-123456 playlabel='A talk'></lite-youtube>",
            "https://www.youtube.com/watch?v=abc_-123456",
            "A talk",
        ),
        (
            "<blockquote class=twitter-tweet><a href=https://x.com/a/status/1></a></blockquote>",
            "https://x.com/a/status/1",
            "x.com",
        ),
        (
            "<blockquote data-instgrm-permalink='https://www.instagram.com/p/a1/?x'></blockquote>",
            "https://www.instagram.com/p/a1/",
            "instagram.com",
        ),
        (
            "<object data=https://e.org/paper type=application/pdf></object>",
            "https://e.org/paper",
            "e.org",
        ),
    ],
)
def test_an_embed_loaded_by_a_script_becomes_a_card(widget, page, title):
    article = read(widget)

    link = re.search(r'<a class="embed" href="([^"]*)"[^>]*>([^<]*)</a>', article)
    assert link
    assert link[1] == page
    assert title in link[2]


def test_a_figure_around_an_embed_stays_only_with_a_caption():
    frame = "<div><iframe src=https://youtube.com/embed/abcdefg></iframe></div>"
    picture = '<img src="a.png">'

    article = read(
        f"<figure>{frame}</figure><figure>{frame}<figcaption>A talk</figcaption></figure>"
        f"<figure>{frame}{picture}</figure>"
    )

    assert article.count('class="embed"') == 3
    assert article.count("<figure>") == 2
    assert "A talk</figcaption>" in article


@pytest.mark.parametrize(
    ("document", "page"),
    [
        ("<iframe src=/report.pdf></iframe>", "https://example.com/report.pdf"),
        ("<iframe src=newsletter.PDF#page=2></iframe>", "https://example.com/deep/newsletter.PDF"),
        ("<iframe src='/viewer?file=a.pdf'></iframe>", "https://example.com/viewer?file=a.pdf"),
        ("<embed src=/second.pdf>", "https://example.com/second.pdf"),
        ("<object data=/third.pdf></object>", "https://example.com/third.pdf"),
        (
            "<iframe src=https://docs.google.com/document/d/x/pub?embedded=true></iframe>",
            "https://docs.google.com/document/d/x/pub?embedded=true",
        ),
    ],
)
@pytest.mark.parametrize("around", ["{}", "<p>{}</p>", "<div>{}</div>"])
def test_an_embedded_document_becomes_a_card(document, page, around):
    article = read(around.format(document))

    assert f'<a class="embed" href="{page}' in article


@pytest.mark.parametrize("address", ["javascript:x.pdf", "data:text/html,x.pdf", "blob:x/a.pdf"])
def test_no_card_links_to_an_invalid_url(address):
    assert "embed" not in read(f"<iframe src='{address}'></iframe>")


@pytest.mark.parametrize("around", ["{}", "<p>Look{}there</p>", "Look<span>{}</span>there"])
def test_card_text_is_separated_from_surrounding_text(around):
    cards = "<iframe src=https://youtube.com/embed/abcdefg></iframe><embed src=//b.example/a.pdf>"

    text = extract_article(f"<article>{PROSE}{around.format(cards)}{PROSE}</article>", URL).text

    words = text.split()
    assert words.count("Embedded") == 2
    assert {"youtube.com", "b.example"} <= set(words)
    assert ("there" in words) == ("Look" in words) == ("Look" in around)


@pytest.mark.parametrize(
    "widget",
    [
        "<script src=https://gist.github.com/ann/0123abcd.evil></script>",
        "<lite-youtube videoid='x/../../y'></lite-youtube>",
        "<blockquote data-instgrm-permalink='javascript:alert(1)'></blockquote>",
    ],
)
def test_iframes_without_a_player_become_no_card(widget):
    assert "embed" not in read(widget)


def test_video_and_audio_keep_their_sources():
    article = read('<video src="v.mp4" poster="p.jpg" width=4 height=3></video><audio src="a.ogg">')

    assert 'src="https://example.com/deep/v.mp4"' in article
    assert 'poster="https://example.com/deep/p.jpg"' in article
    assert 'src="https://example.com/deep/a.ogg"' in article


def test_amp_video_and_iframe_elements_are_converted():
    article = read(
        "<amp-video poster=p.jpg><source src=v.mp4></amp-video>"
        "<amp-iframe src=https://maps.example.com/embed/1><p>Loading</amp-iframe>"
    )

    assert 'poster="https://example.com/deep/p.jpg"' in article
    assert 'src="https://example.com/deep/v.mp4"' in article
    assert '<a class="embed" href="https://maps.example.com/embed/1"' in article
    assert "Loading" not in article


def test_a_caption_hidden_from_screen_readers_is_kept():
    shown = "<img src=a.png alt='The mill'><figcaption aria-hidden=true>The mill</figcaption>"

    assert "<figcaption>The mill</figcaption>" in read(f"<figure>{shown}</figure>")


def test_white_space_elements_separate_words_and_indent_code():
    article = read("<p>one<span> </span>two</p><pre>a:<span>  </span>b</pre>")

    assert "one two" in article
    assert "a:  b</pre>" in article


MATH = (
    "<math><semantics><mrow><mi>x</mi></mrow>"
    "<annotation encoding='application/x-tex'>x</annotation></semantics></math>"
)
KATEX = f"""<span class=katex><span class=katex-mathml>{MATH}</span>
<span class=katex-html aria-hidden=true>x</span></span>"""
MATHJAX = f"""<mjx-container display=true><mjx-math>x</mjx-math>
<mjx-assistive-mml>{MATH}</mjx-assistive-mml></mjx-container>"""
TABLED = """<table class='highlighttable'><tr><td class=linenos><pre>1\n2</pre></td><td>
<pre class='lang-python'>def f():\n    return 1</pre></td></tr></table>"""
NUMBERED = (
    "<pre data-lang=python><span class=lineno>1 </span>def f():<br>"
    "<span class=lineno>2 </span>    return 1<button>Copy</button></pre>"
)


@pytest.mark.parametrize(
    "written",
    [
        MATH,
        KATEX,
        MATHJAX,
        "<span class=MathJax_Preview>x</span><script type='math/tex'>x</script>",
        "<script type='math/tex; mode=display'>x</script>",
        r"\(x\)",
        r"\[x\]",
        "$$x$$",
        "$x$",
        r"<span class='math inline'>\(x\)</span>",
        "<span class='math math-inline'>x</span>",
        "<span class='math inline'>x</span>",
    ],
)
def test_formulas_in_every_notation_become_mathml_with_their_source(written):
    scripts = "<script src=mathjax.js></script><script>inlineMath: [['$','$']]</script>"

    article = read(f"<p>where {written} is</p>", scripts)

    assert re.search(
        r"where <math[^>]*><semantics>(<mrow>)+<mi>x</mi>(</mrow>)+<annotation", article
    )
    assert (
        '<annotation encoding="application/x-tex">x</annotation></semantics></math> is' in article
    )


@pytest.mark.parametrize(
    ("variant", "letters", "expected"),
    [
        ("bold", "xA1", "BOLD SMALL X|BOLD CAPITAL A|BOLD DIGIT ONE"),
        ("double-struck", "kR", "DOUBLE-STRUCK SMALL K|DOUBLE-STRUCK CAPITAL R"),
        ("fraktur", "gC", "FRAKTUR SMALL G|BLACK-LETTER CAPITAL C"),
        ("script", "LA", "SCRIPT CAPITAL L|SCRIPT CAPITAL A"),
        ("bold-italic", "β+", "BOLD ITALIC SMALL BETA|PLUS SIGN"),
    ],
)
def test_formula_letters_use_mathematical_alphabets(variant, letters, expected):
    article = read(f'<p>so <math><mi mathvariant="{variant}">{letters}</mi></math> is</p>')

    shown = re.search(r"<mi>(.*?)</mi>", article)[1]
    named = [unicodedata.name(each).removeprefix("MATHEMATICAL ") for each in shown]
    assert "|".join(named) == expected


@pytest.mark.parametrize(
    "written", [r"\newenvironment{a}{x}{y}\begin{a}\end{a}", r"\newcommand{\R}{\R\R}\R"]
)
def test_a_formula_with_definitions_becomes_code(written):
    article = read(rf"<p>so \({written}\) is</p>", "<script src=mathjax.js></script>")

    assert f"{written}</code>" in article


def test_the_length_of_all_formulas_of_a_page_is_limited():
    long = r"\text{" + "x" * (MAX_FORMULA - 20) + "}"
    formulas = " ".join(rf"\({long}{n}\)" for n in range(60))

    article = read(f"<p>{formulas}</p>", "<script src=katex.js></script>")

    assert 30 < article.count("<math") < 50


def test_money_and_code_are_not_formulas():
    article = read(
        r"<p>from $5 to $7, \(a</p><pre>$$x$$</pre><p><code>\(x\)</code></p>",
        "<script src=katex.js></script><script>['$', '$']</script>",
    )

    assert "<math" not in article
    assert "from $5 to $7" in article


def test_unsupported_latex_is_shown_as_written():
    article = read(r"<p>\(\frac{\)</p>", "<script src=katex.js></script>")

    assert r'<code class="language-tex">\frac{</code>' in article


@pytest.mark.parametrize(
    "written",
    [
        "<div class='highlight-python'><pre>def f():\n    return 1</pre></div>",
        "<pre><code class='language-python'><span>def</span> f():\n    return 1\n</code></pre>",
        "<pre class='sourceCode python'><code><span>def f():</span>\n    return 1</code></pre>",
        TABLED,
        NUMBERED,
        "<pre class='lang-python'><ol><li>def f():</li><li>    return 1</li></ol></pre>",
    ],
)
def test_code_keeps_its_lines_its_indentation_and_its_language(written):
    assert '<pre><code class="language-python">def f():\n    return 1</code></pre>' in read(written)


def test_an_svg_keeps_its_styles_and_icons_are_removed():
    article = read(
        "<svg viewBox='0 0 90 90'><style>.a{fill:red;stroke:url(#g)}</style><defs>"
        "<linearGradient id=g></linearGradient></defs><path class=a d='M0 0L9 9'/></svg>"
        "<svg width=16 height=16><path d='M0 0'/></svg>"
    )

    assert article.count("<svg") == 1
    assert '<path d="M0 0L9 9" fill="red" stroke="url(#a-g)">' in article
    assert '<linearGradient id="a-g">' in article


def test_right_to_left_text_keeps_its_direction():
    page = f"<html dir=rtl><body><div dir=rtl><p lang=ar>{'مرحبا، ' * 200}</p></div></body></html>"

    assert 'lang="ar"' in extract_article(page, URL).html


@pytest.mark.parametrize("label", ["<span class=lang>js</span>", "<div>JS</div>"])
def test_a_language_label_above_code_is_not_part_of_the_code(label):
    article = read(f"<div class=language-js>{label}<pre><code>let a = 1</code></pre></div>")

    assert '<pre><code class="language-js">let a = 1</code></pre>' in article
    assert ">js<" not in article.lower()


def test_text_above_a_code_frame_stays():
    article = read("<p>js</p><pre class=language-js>let a = 1</pre>")

    assert "<p>js</p>" in article


def test_a_data_table_of_links_stays():
    row = "<tr><td><a href=/{0}>https://example.com/watch?v={0}</a><td>short {0}"
    rows = "".join(row.format(n) for n in range(4))
    article = read(f"<div class=wrapper><table><tr><th>Address<th>Name{rows}</table></div>")

    assert article.count("<tr>") == 5


def test_a_paragraph_that_is_one_link_is_kept_in_a_wrapper_if_it_is_a_sentence():
    sentence = "On Friday two people of the town came to court, and both denied all charges again"
    linked = '<div class="markup"><p><a href="/x"><strong>{}</strong></a></p></div>'
    assert sentence in read(linked.format(f"{sentence}."))
    assert sentence not in read(linked.format(sentence))


def test_a_step_with_a_link_is_kept_next_to_steps_without_links():
    link = "<a href=/x>the panel</a>"
    step = f"<div>1. Right-click, and open {link}.</div>"
    article = read(f"<div>{step}<div>2. Select it.</div><div>3. Save.</div></div>")
    assert "1. Right-click" in article
    article = read(f"<div><div class=more>More: {link}</div><div>2. Select it.</div></div>")
    assert "More" not in article
