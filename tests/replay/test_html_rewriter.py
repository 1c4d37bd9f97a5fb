import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from archiver.http.urls import join
from archiver.replay.addresses import Modifier, parse_replay_path
from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.tag_syntax import MAX_TAG_LENGTH
from archiver.replay.url_rewriter import UrlRewriter
from tests.rewriting import replay_path

PARTS = re.findall(
    r"\S+",
    """< > </ /> <a <A <img <link <base <meta <svg> </svg> <math> <style> </style> <script> </a>
    </script> <!-- --> <!--> <!---> --!> <![CDATA[ ]]> <!DOCTYPE <?x ?> </> <textarea> </textarea
    <title> <iframe <noscript> </noscript> <xmp> </xmp> <plaintext> <div <p> </p> <foreignObject>
    <picture> </picture> <source <input <animate <set href= src= srcset= style= data-src= href
    xlink:href= srcdoc= rel=stylesheet rel=preload as=style rel=icon http-equiv=refresh content=
    attributeName=href target=_top ping= x.png /y //z.example http://q.example/?a&b=c #f data:x
    javascript:1 '5;url=x' "1x,b" url(x) @import'x' "&quot;" &amp; &copy; &copy=1 &#x6a; blank.gif
    " ' = / é =" =' &lt;a&nbsp;href=x> onload= type= type=module <embed <object data= x.swf
    rel=modulepreload autofocus""",
)
SOUP = st.lists(
    st.sampled_from([*PARTS, " ", " ", " ", "\n", "<!-- <script"]) | st.text(max_size=3),
    max_size=30,
).map("".join)
OPTIONS = st.fixed_dictionaries(
    {
        "page": st.sampled_from([Modifier.NONE, Modifier.FRAME]),
        "xml": st.booleans(),
    }
)
REFERENCES = st.text("abc/.:?#&=;%é '\"()[]@\\\t", max_size=20)


@given(SOUP, OPTIONS, st.integers())
def test_pieces_of_any_size_give_the_same_document(html, markup, options, seed):
    assert html(markup, seed=seed, **options) == html(markup, **options)


@given(SOUP, OPTIONS)
def test_rewriting_is_idempotent(html, markup, options):
    rewritten = html(markup, **options)

    assert html(rewritten, **options) == rewritten


BAITS = re.findall(
    r"\S+",
    """< > </ /> <a <A <img <img <link <svg> </svg> <math> <style> </style> <script> </script> <!--
    --> <!--> <!---> --!> <![CDATA[ ]]> <!DOCTYPE <?x ?> </> <textarea> </textarea </textarea>
    <iframe <noscript> <xmp> </xmp> <div <p> </p> <b> <table> <td> <picture>
    <source <input src= href= rel=stylesheet http://q.example/x src=http://q.example/y " ' = =" =' é
    <img&nbsp;src=http://q.example/z> '><img&nbsp;src=http://q.example/z>""".replace(
        "&nbsp;", "\x1f"
    ),
)


@given(st.lists(st.sampled_from([*BAITS, " ", " ", "<!-- <script"]), max_size=24).map("".join))
def test_a_browser_parser_finds_no_external_reference(html, markup):
    tree = LexborHTMLParser(html(markup.replace("\x1f", " ")))

    pointing = dict.fromkeys(("img", "iframe", "input", "source", "script"), "src")
    for name, attribute in {**pointing, "a": "href", "link": "href"}.items():
        for node in tree.css(name):
            assert not (node.attributes.get(attribute) or "").startswith("http:")


@given(st.binary())
def test_bytes_without_links_are_unchanged(html, data):
    markup = f"<p title='{data.replace(b'<', b'').decode('latin-1')}"

    assert html(markup, encoding="utf-8") == markup


@given(REFERENCES.filter(lambda each: "@" not in each), st.sampled_from(['"', "'"]))
def test_unrewriting_gives_the_original_url(html, reference, quote):
    url = join("https://example.com/dir/page.html", reference.strip())
    source = reference.replace("&", "&amp;").replace(quote, "&quot;" if quote == '"' else "&#39;")

    result = _attributes(html(f"<a href={quote}{source}{quote}>"))["href"]

    if result == reference:
        assert url is None or result.strip()[:1] in {"#", ""}
    elif result == "#":
        assert url is None
    else:
        assert parse_replay_path(result.partition("#")[0]).url == url


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<a href=x>", '<a href="<>x">'),
        ("<a href='x'>", "<a href='<>x'>"),
        ('<A HREF = "x" >', '<A HREF = "<>x" >'),
        ("<a\n\thref=\nx/>", '<a\n\thref=\n"<>x/">'),
        ('<a title=">" href="x">', '<a title=">" href="<>x">'),
        ("<a/href=x>", '<a/href="<>x">'),
        ('<a href="?a=1&amp;b&copy=2">', '<a href="<>page.html?a=1&amp;b&amp;copy=2">'),
        ('<a href=" x\n">', '<a href="<>x">'),
        ('<a href="&#x2f;&#47;q.example">', '<a href="<>https://q.example/">'),
        ('<a href="x#f">', '<a href="<>x#f">'),
        ("<area href=x ping=y>", '<area href="<>x" data-archived-ping=y>'),
        ("<img src=x lowsrc=y>", '<img src="<im_>x" lowsrc="<im_>y">'),
        ("<image src=x>", '<image src="<im_>x">'),
        (
            '<img srcset="a 1x, b,c 2x,d,, e (,) f">',
            '<img srcset="<im_>a 1x, <im_>b,c 2x,<im_>d,, <im_>e (,) f">',
        ),
        ('<img srcset="javascript:x 1x">', '<img srcset="data:, 1x">'),
        ("<source srcset=a src=b>", '<source srcset="<im_>a" src="<im_>b">'),
        ("<video poster=a src=b>", '<video PLAYED poster="<im_>a" src="<im_>b">'),
        ("<track src=a><audio src=b>", '<track src="<im_>a"><audio PLAYED src="<im_>b">'),
        ("<video controls crossorigin><source src=a>", None),
        (
            "<video autoplay preload=none src=a><source src=b#c>",
            '<video PLAYED autoplay preload="auto" src="<im_>a#t=1"><source src="<im_>b#c">',
        ),
        (
            "<video autoplay poster=a><source src=b>",
            '<video PLAYED preload="auto" autoplay poster="<im_>a"><source src="<im_>b">',
        ),
        ("<input type=image src=a formaction=b>", None),
        ("<body background=a>", '<body background="<im_>a">'),
        ("<td background=a><table background=b>", None),
        ("<form action=a><button formaction=b>", '<form action="<>a"><button formaction="<>b">'),
        ("<blockquote cite=a><q cite=b>", '<blockquote cite="<>a"><q cite="<>b">'),
        ("<iframe src=a longdesc=b>", '<iframe src="<if_>a" longdesc="<>b">'),
        ("<frame src=a>", '<frame src="<if_>a">'),
        ("<portal src=a><fencedframe src=b>", '<portal src="<if_>a"><fencedframe src="<if_>b">'),
        ("<embed src=a type=image/svg+xml>", '<embed src="<if_>a" type=image/svg+xml>'),
        ("<object data=a codebase=b>", '<object data="<if_>a" data-archived-codebase=b>'),
        ("<object data=a type=image/png>", '<object data="<im_>a" type=image/png>'),
        ("<embed src=a>", '<embed src="<if_>a">'),
        ("<param name=movie value=a>", '<param name=movie value="<im_>a">'),
        ("<param name=quality value=a>", "<param name=quality value=a>"),
        ("<script src=a integrity=b>", '<script DATA src="<js_>a" data-archived-integrity=b>'),
        ("<div style='a:url(x)'>", "<div style='a:url(<im_>x)'>"),
        ('<p style="a:url(&quot;x&quot;)">', '<p style="a:url(&quot;<im_>x&quot;)">'),
        ("<style>a{b:url(x)}</style>", "<style>a{b:url(<im_>x)}</style>"),
        ("<STYLE>@import 'x'", "<STYLE>@import '<cs_>x'"),
        ("<html manifest=a>", "<html data-archived-manifest=a>"),
        ("<noscript><img src=a></noscript>", '<noscript><img src="<im_>a"></noscript>'),
        ("<template><a href=a></template>", '<template><a href="<>a"></template>'),
    ],
)
def test_references_are_rewritten_into_the_archive(html, before, after):
    rewritten = html(before)

    if after is None:
        assert rewritten.count("/web/") == before.count("=a") + before.count("=b")
        return
    after = after.replace("PLAYED", 'controls="" crossorigin="anonymous"')
    after = after.replace("DATA", 'type="text/x-archived-script"')
    after = re.sub(
        '<((?:..)?_?)>(https://[^"]*)', lambda match: replay_path(match[2], match[1]), after
    )
    for modifier in ("", "im_", "cs_", "js_", "if_"):
        after = after.replace(f"<{modifier}>", replay_path("", modifier))
    assert rewritten == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<link rel=stylesheet href=x>", "cs_"),
        ('<link rel="alternate stylesheet" href=x>', "cs_"),
        ("<link rel=icon href=x>", "im_"),
        ("<link rel=apple-touch-icon-precomposed href=x>", "im_"),
        ("<link rel=manifest href=x>", "im_"),
        ("<link rel=modulepreload href=x>", "js_"),
        ("<link rel=preload as=style href=x>", "cs_"),
        ("<link rel=preload as=script href=x>", "js_"),
        ("<link rel=preload as=font href=x>", "im_"),
        ("<link rel=prefetch href=x>", ""),
        ("<link rel=canonical href=x>", ""),
    ],
)
def test_link_elements_are_rewritten_by_their_relation(html, before, after):
    result = html(before).replace("data-archived-rel", "rel")

    assert result == before.replace("href=x", f'href="{replay_path("x", after)}"')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<link rel=preconnect href=//x>", "<link rel=preconnect data-archived-href=//x>"),
        ("<link rel=dns-prefetch href=//x>", "<link rel=dns-prefetch data-archived-href=//x>"),
        ("<a href='javascript:x()'>", "<a href=\"#\" data-archived-href='javascript:x()'>"),
        ("<a href=' java\nscript:x'>", "<a href=\"#\" data-archived-href=' java\nscript:x'>"),
        ("<a href=&#x6A;avascript:x>", '<a href="#" data-archived-href=&#x6A;avascript:x>'),
        ("<a href=&#0000000000106;avascript:x>", None),
        ("<a href=data:text/html,x>", '<a href="#" data-archived-href=data:text/html,x>'),
        ("<a href=http://[>", '<a href="#" data-archived-href=http://[>'),
        ("<iframe src=javascript:x>", "<iframe data-archived-src=javascript:x>"),
        ("<iframe src=javascript:x src=//y>", None),
        ("<iframe src=data:text/html,x>", "<iframe data-archived-src=data:text/html,x>"),
        ("<form action=javascript:x>", "<form data-archived-action=javascript:x>"),
        ("<a target=_top>", '<a target="_self">'),
        ("<a target=' _blank'>", "<a target=' _blank'>"),
        ("<base target=_PARENT>", '<base target="_self">'),
        ("<b nonce=x>", "<b data-archived-nonce=x>"),
        ("<b referrerpolicy=unsafe-url>", "<b data-archived-referrerpolicy=unsafe-url>"),
        (
            "<a href=# referrerpolicy=unsafe-url>",
            "<a href=# data-archived-referrerpolicy=unsafe-url>",
        ),
        (
            "<meta name=Referrer content=unsafe-url>",
            "<meta data-archived-name=Referrer content=unsafe-url>",
        ),
        ("<img crossorigin src=#>", "<img data-archived-crossorigin src=#>"),
        ("<link rel=icon as=font crossorigin>", "<link rel=icon as=font crossorigin>"),
        ("<meta http-equiv=Content-Security-Policy content=x>", None),
        ("<meta http-equiv=set-cookie content=x>", None),
        ("<meta http-equiv=refresh content='0;url=javascript:x'>", None),
        ("<svg><animate attributeName=href to=//x>", None),
    ],
)
def test_active_markup_is_renamed(html, before, after):
    rewritten = html(before)

    if after is None:
        assert "data-archived-" in rewritten
        assert not re.search(r"\s(src|http-equiv|attributeName)=", rewritten)
    else:
        assert rewritten == after


@pytest.mark.parametrize(
    "markup",
    [
        "a < b <3 </3> <> < a href=x>",
        "<!-- <a href=x> --><!--><!-- --!><!DOCTYPE html SYSTEM 'x'>",
        "<? <a href=x",
        "<script type=x>'<a href=x>'</script>",
        "<script type=x><!-- <script> </script> <a href=x> --></script>",
        "<textarea><a href=x></textarea><title><a href=x></title>",
        "<xmp><a href=x></xmp><iframe><a href=x></iframe><noembed><a href=x></noembed>",
        "<noframes><a href=x></noframes><plaintext><a href=x></plaintext><a href=x>",
        "<style></styl <a href=x></style>",
        "<![CDATA[ <a href=x ",
        "<svg><![CDATA[ <a href=x> ]]></svg>",
        "<p href=x src=y data=z>",
        "<a name=x><a href=#f><a href=''><a href>",
        "<a href=mailto:x@example.com><a href=tel:1>",
        "<img src=data:image/gif;base64,x><img src=about:blank>",
        "<svg><use href=#a xlink:href='#b'></svg>",
        "<meta name=viewport content=x><meta charset=utf-8>",
        "<meta http-equiv=content-type content=x>",
        "</a href=x>",
        "<a href=x",
        "<a title='<a href=x>",
    ],
)
def test_text_that_is_not_a_reference_is_unchanged(html, markup):
    assert html(markup) == markup
    assert html(markup, seed=1) == markup


def test_a_base_element_is_applied_and_disabled(html):
    markup = "<a href=x><base href=/b/><base href=/c/><a href=x><a href=#f><a href><img src=''>"

    assert html(markup) == (
        f'<a href="{replay_path("x")}"><base data-archived-href=/b/><base data-archived-href=/c/>'
        f'<a href="{replay_path("https://example.com/b/x")}"><a href="{replay_path("https://example.com/b/#f")}">'
        f"<a href=\"{replay_path('https://example.com/b/')}\"><img src=''>"
    )


def test_lazy_images_replace_their_placeholders(html):
    markup = (
        "<img data-src=a.png><NOSCRIPT class=b><img src=a.png></NOSCRIPT>"
        "<img src='data:image/gif;base64,x' data-srcset='a.png 2x'> x<noscript>n</noscript>"
        "<img src=/i/blank.gif data-original=a.png><img src=b.png data-src=c.png>"
        "<picture><source data-srcset=a.png><img src=b.png></picture>"
    )

    shown, small, large = (
        replay_path("a.png", "im_"),
        replay_path("b.png", "im_"),
        replay_path("c.png", "im_"),
    )
    assert html(markup) == (
        f'<img src="{shown}" data-src="{shown}">'
        f'<NOSCRIPT hidden="" class=b><img src="{shown}"></NOSCRIPT>'
        f"<img srcset=\"{shown} 2x\" src='data:image/gif;base64,x' data-srcset='{shown} 2x'>"
        " x<noscript>n</noscript>"
        f'<img src="{shown}" data-original="{shown}"><img src="{small}" data-src="{large}">'
        f'<picture><source srcset="{shown}" data-srcset="{shown}"><img src="{small}"></picture>'
    )
    assert html(markup, seed=3) == html(markup)


def test_style_sheets_waiting_for_a_script_are_enabled(html):
    markup = (
        "<link rel=stylesheet href=x media=print onload=\"this.media='all'\">"
        "<link rel=preload as=style href=x onload=\"this.rel='stylesheet'\">"
        "<link rel=stylesheet href=x media=print>"
    )

    path = replay_path("x", "cs_")
    assert html(markup) == (
        f'<link rel=stylesheet href="{path}" media="all" '
        "data-archived-onload=\"this.media='all'\">"
        f'<link rel="stylesheet" as=style href="{path}" '
        "data-archived-onload=\"this.rel='stylesheet'\">"
        f'<link rel=stylesheet href="{path}" media=print>'
    )


def test_srcdoc_documents_are_rewritten_at_every_depth(html):
    inner = "<a href=x>é</a>"
    markup = inner
    for _ in range(4):
        markup = f"<iframe srcdoc='{markup.replace('&', '&amp;').replace(chr(39), '&#39;')}'>"

    rewritten = html(f"<base href=/b/>{markup}")

    assert rewritten.count("data-archived-srcdoc") == 1
    path = replay_path("https://example.com/b/x")
    assert html(f"<base href=/b/><iframe srcdoc='{inner}'>") == (
        f"<base data-archived-href=/b/><iframe srcdoc='<a href=\"{path}\">é</a>'>"
    )


def test_svg_is_parsed_as_svg(html):
    markup = (
        "<svg><style>a{b:url(x)}<![CDATA[c{d:url(y&z)}]]><a xlink:href=x></style>"
        "<image href=x /><title><a href=x></title><rect fill='url(x#g)' mask=url(#m) />"
        "<script type=x href=x></script>"
        "<foreignObject><style><a href=x></style></foreignObject></svg>"
        "<style><a href=x></style>"
    )

    image, anchor = replay_path("x", "im_"), replay_path("x")
    assert html(markup) == (
        f"<svg><style>a{{b:url({image})}}<![CDATA[c{{d:url({replay_path('y&z', 'im_')})}}]]>"
        f'<a xlink:href="{anchor}"></style><image href="{image}" />'
        f'<title><a href="{anchor}"></title>'
        f"<rect fill='url({image}#g)' mask=url(#m) />"
        f'<script type=x href="{replay_path("x", "js_")}"></script>'
        "<foreignObject><style><a href=x></style></foreignObject></svg><style><a href=x></style>"
    )


def test_xml_is_parsed_as_xml(html):
    markup = (
        '<?xml version="1.0"?><?xml-stylesheet href="x?a&amp;b" type="text/css"?>'
        "<h:html><h:script type='x'><![CDATA[ <a href='x'> ]]></h:script><h:img src='x'/>"
        "<svg:image xlink:href='x'/><title><a href='x'/></title></h:html>"
    )

    image = replay_path("x", "im_")
    assert html(markup, xml=True) == (
        f'<?xml version="1.0"?><?xml-stylesheet href="{replay_path("x?a", "cs_")}&amp;b" '
        'type="text/css"?>'
        f"<h:html><h:script type='x'><![CDATA[ <a href='x'> ]]></h:script><h:img src='{image}'/>"
        f"<svg:image xlink:href='{image}'/><title><a href='{replay_path('x')}'/></title></h:html>"
    )


def test_other_bytes_are_preserved_and_urls_use_the_document_encoding():
    links = UrlRewriter("https://example.com/", "20240229120001")
    page = "é".encode("cp1252") + b"\x81\xff<a href='\xe9'>\xe9</a>"

    rewriter = HtmlRewriter(links, encoding="windows-1252")
    out = rewriter.feed(page.decode("latin-1")) + rewriter.close()

    path = b"/web/20240229120001/https://example.com/%C3%A9"
    assert out.encode("latin-1") == b"\xe9\x81\xff<a href='" + path + b"'>\xe9</a>"


@pytest.mark.parametrize("opening", ["<a title='", '<a href="http://x/', "<iframe src=", "<a x "])
def test_a_too_long_tag_keeps_only_its_name(html, opening):
    end = opening[-1] if opening[-1] == "'" else '"' if '"' in opening else ""
    markup = f"<p>{opening}{'x' * MAX_TAG_LENGTH}{end}><b href=x>"

    name = opening[1:].split()[0]
    assert html(markup) == f"<p><{name}><b href=x>"


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "<a ",
        "<a b='",
        '<a b="',
        "</",
        "<!--",
        "<![CDATA[",
        "<svg>",
        "<style>",
        "&",
        "<a\t=",
        "<script><!--",
        "<a href=x ",
        "<img src=",
        "<svg><style>a{b:url(",
        "<p style='(((",
        "<noscript>",
    ],
)
def test_hostile_input_takes_linear_time(html, unit):
    """A quadratic scan of this input would not finish in practice."""
    markup = unit * ((1 << 18) // len(unit))

    assert len(html(markup)) < 8 * len(markup)


def _attributes(tag: str) -> dict[str, str]:
    results: dict[str, str] = {}

    class Reader(HTMLParser):
        def handle_starttag(self, _tag, attrs):
            results.update(attrs)

    Reader().feed(tag)
    return results
