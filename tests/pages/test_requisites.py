"""Every resource that a page loads is named once, with its use."""

from hypothesis import given
from hypothesis import strategies as st

from archiver.http.text_decoders import Encoding
from archiver.pages.requisites import (
    discover_requisites,
    find_linked,
    find_sheet_requisites,
    find_xml_requisites,
)

KOI8_U = Encoding("koi8-u")
PAGE = """<base href="/b/"><link rel=stylesheet href=s.css><link rel="shortcut icon" href=/i.ico>
<link rel=preload as=font href=f.woff><link rel=canonical href=/none>
<style>@import 'two.css'; p { background: url("bg.png") }</style>
<p style="background-image: url(inline.png)"><img src=a.png srcset="a1.png 1x, a2.png 2x">
<img src="data:image/gif;base64,x" data-src=lazy.jpg>
<img src="data:," data-large-file=large.jpg><img src=a.png data-large-file=none.jpg>
<img src=a.png data-src="{{ image }}" data-srcset="a_{width}.png">
<p data-bg="url(behind.jpg)" data-bgset="set.jpg 9w"></p>
<picture><source srcset="w.webp 800w"></picture>
<iframe src=frame.html></iframe><video poster=p.jpg src=v.mp4></video>
<noscript><img src=noscript.png></noscript><svg><image href=svg.png /><use href="#x"/></svg>
<a href=/page>a</a><script src=x.js></script><img src=a.png>"""
NAMED = """s.css:style ../i.ico:icon f.woff:font two.css:style bg.png:image inline.png:image
a.png:image a1.png:image a2.png:image lazy.jpg:image large.jpg:image behind.jpg:image set.jpg:image
w.webp:image frame.html:frame p.jpg:image
v.mp4:media noscript.png:image svg.png:image"""


def test_resources_of_a_page_are_found():
    requisites = discover_requisites(PAGE, "http://example.com/a/", 100).requisites

    named = {f"{each.url.removeprefix('http://example.com/b/')}:{each.kind}" for each in requisites}
    expected = {each.replace("../", "http://example.com/") for each in NAMED.split()}
    assert named == expected
    assert len(requisites) == len(expected)


def test_queries_are_encoded_in_the_encoding_of_the_document():
    page = "<base href=/b/><img src='é?Ж'><p style='a:url(?Ж)'><iframe srcdoc='<img src=?Ж>'>"

    requisites = [
        each.url for each in discover_requisites(page, "http://e.x/", 9, KOI8_U).requisites
    ]

    assert requisites == ["http://e.x/b/%C3%A9?%F6", "http://e.x/b/?%F6", "http://e.x/b/?%D0%96"]
    assert find_sheet_requisites("a { b: url(?Ж) }", "http://e.x/", KOI8_U)[0].url.endswith("?%F6")


def test_resources_of_documents_in_data_urls_are_found():
    page = """<link rel=stylesheet href="data:text/css,@import 'http://a.x/s'">
    <style>@import url(data:text/css;base64,YXt4OnVybChodHRwOi8vYS54L2kpfQ==)</style>
    <iframe src="data:text/html,<img src=http://a.x/j><img src=no>"></iframe>
    <object data="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image
    href='http://a.x/k'/></svg>"></object><img src="data:image/svg+xml,<image href='//a.x/no'/>">"""

    results = {
        each.url[-1]: each.kind for each in discover_requisites(page, "http://e.x/", 9).requisites
    }

    assert results == {"s": "style", "i": "image", "j": "image", "k": "image"}


def test_the_number_of_resources_is_limited():
    assert len(discover_requisites(PAGE, "http://example.com/", 3).requisites) == 3


def test_resources_of_a_style_sheet_are_found():
    sheet = r"""@import url(one.css); /* url(no.png) */ @font-face { src: url('f\.woff') }
    a { content: "url(no.png)"; background: image-set("x.png" 1x, url(y.png) 2x), URL( z.png ) }"""

    results = {
        each.url.rpartition("/")[2]: each.kind.value
        for each in find_sheet_requisites(sheet, "http://e.x/")
    }

    assert results == {
        "one.css": "style",
        "f.woff": "font",
        "x.png": "image",
        "y.png": "image",
        "z.png": "image",
    }


@given(st.text(alphabet="@import url('\")/*\\{};a.", max_size=200))
def test_any_style_sheet_is_parsed(sheet):
    assert isinstance(find_sheet_requisites(sheet, "http://example.com/"), tuple)


@given(st.text(alphabet="<>img src='\"=/noscript&;", max_size=200))
def test_any_page_is_parsed(page):
    assert isinstance(discover_requisites(page, "http://example.com/", 50).requisites, tuple)


SVG = """<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE svg [<!ENTITY e SYSTEM "file:///e">]>
<?xml-stylesheet type="text/css" href="look.css?a&amp;b"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink">
<style>@import "in.css"; a { fill: url(paint.svg#x) }</style><image x:href="a.png"/>
<use href="symbols.svg#one"/><use href="#own"/><a href="/page">&e;</a><script href="s.js"/>
<rect style="fill: url(f.svg#q)"/><thing xmlns="urn:other" src="other.png"/>
<foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="h.png"/></foreignObject>{}</svg>"""
DRAWN = {
    *("look.css?a&b:style", "in.css:style", "paint.svg:image", "a.png:image", "symbols.svg:image"),
    *("f.svg:image", "h.png:image"),
}


def drawn(text):
    requisites = find_xml_requisites(text, "http://e.x/", 100)
    return {f"{each.url.removeprefix('http://e.x/')}:{each.kind}" for each in requisites}


def test_resources_of_an_svg_are_found():
    assert drawn(SVG) == DRAWN


def test_resources_before_an_xml_error_are_found():
    assert drawn(SVG.replace("{}", '</oops><image href="late.png"/>')) == DRAWN


@given(st.text(alphabet="<>/svg xmlns='\"=&;![]?-", max_size=200))
def test_any_xml_is_parsed(text):
    assert isinstance(drawn(text), set)


def test_resources_of_link_headers_are_found():
    field = '<s.css>; rel=stylesheet, </f>; as=font; rel="preload", <2>; rel=next, <m>; rel=icon,<'

    requisites = find_linked(field, "http://e.x/d/", 100)

    assert [(each.url, each.kind.value) for each in requisites] == [
        ("http://e.x/d/s.css", "style"),
        ("http://e.x/f", "font"),
        ("http://e.x/d/m", "icon"),
    ]
