"""Documents are identified by their own type, not by pages embedded in them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archiver.formats.source_file import is_mhtml, xml_root
from tests.formats.reading import opened

LINKS = '<DL><p><DT><H3>News</H3><DT><A HREF="https://a.example/" ADD_DATE="1">A</A></DL>'
ESCAPED = LINKS.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
CDATA = f"<![CDATA[<!DOCTYPE NETSCAPE-Bookmark-file-1>{LINKS}]]>"
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
CHANNEL = f"<channel><title>T</title><link>https://a.example/</link><description>{CDATA}"
ITEM = f"<item><title>I</title><link>https://a.example/i</link><description>{ESCAPED}</description>"
RSS_091 = (
    '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" '
    '"http://my.netscape.com/publish/formats/rss-0.91.dtd">\n'
    f'<rss version="0.91">{CHANNEL}</description>{ITEM}</item></channel></rss>'
)
KINDS = {
    "RSS 0.91": (RSS_091, "rss"),
    "RSS 2.0": (
        (
            '<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">'
            f"{CHANNEL}</description>{ITEM}<content:encoded>{CDATA}</content:encoded></item>"
        ),
        "rss",
    ),
    "Atom": (
        (
            '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry>'
            f'<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">{LINKS}</div></content>'
        ),
        "feed",
    ),
    "OPML": (
        (
            f'<opml version="2.0"><head><title>S</title></head><body><outline text="{ESCAPED}" '
            'type="rss" xmlUrl="https://a.example/feed"/></body></opml>'
        ),
        "opml",
    ),
    "XBEL": (
        (
            '<!DOCTYPE xbel PUBLIC "+//IDN python.org//DTD XML Bookmark Exchange Language 1.0'
            '//EN//XML" "http://pyxml.sourceforge.net/topics/dtds/xbel.dtd">\n'
            f'<xbel version="1.0"><bookmark href="https://a.example/"><desc>{CDATA}</desc></bookmark>'
        ),
        "xbel",
    ),
}
BEFORE = (
    "",
    '<?xml version="1.0"?>\n',
    '\n\r\n  <?xml version="1.0" standalone="yes" ?>\n',
    '<?xml version="1.0"?>\n<!-- <html> - <a href="https://a.example/">made</a> -->\n',
    "<?xml version='1.0'?><?xml-stylesheet href='a.xsl?x=1>2' type='text/xsl'?>\n",
)
AS_BYTES = (
    lambda text: text.encode("utf-8-sig"),
    lambda text: text.encode("utf-16"),
    lambda text: ("\ufeff" + text).encode("utf-16-be"),
    lambda text: text.encode("utf-16-le"),
)
MHTML = (
    "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://a.example/\r\n"
    "Subject: A\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n"
    '\ttype="text/html";\r\n\tboundary="----MultipartBoundary--x----"\r\n\r\n\r\n'
    "------MultipartBoundary--x----\r\nContent-Type: text/html\r\n\r\n" + LINKS
)


@pytest.mark.parametrize(("text", "root"), KINDS.values(), ids=KINDS)
def test_a_document_is_not_read_as_a_page_embedded_in_it(text, root):
    for before in BEFORE:
        assert xml_root(before + text).name == root
        assert opened(before + text, "given.html")[0] != "Netscape HTML"
    for encode in AS_BYTES:
        assert opened(encode(text), "given.html")[0] != "Netscape HTML"


def test_a_saved_page_with_its_resources_is_one_page():
    for encode in AS_BYTES:
        form, bookmarks = opened(encode(MHTML), "given.html")

        assert form == "MHTML"
        assert [(each.annotation.url_given, each.annotation.title) for each in bookmarks] == [
            ("https://a.example/", "A")
        ]


def test_a_document_type_with_declarations_is_skipped():
    for doctype in (
        '<!DOCTYPE rss [<!ENTITY nbsp "&#160;"> <!-- it\'s <a> ]> -->]>',
        '<!DOCTYPE rss SYSTEM "a.dtd" [\n<!ENTITY % x SYSTEM "x.ent">\n%x; ]>',
        "<!doctype rss>",
    ):
        assert xml_root(f"{doctype}\n<rss version='0.91'>{LINKS}").name == "rss"


MARKS = ("<?", "?>", "<!--", "-->", "-", "<!doctype x", "[", "]", '"', "'", ">", "<", " ", "rss")


@given(st.lists(st.sampled_from(MARKS), max_size=40), st.integers(1, 2000))
@example(["<!doctype x", "[", *["<!--"] * 20], 800)
@example(["<?"], 30_000)
def test_any_content_has_a_kind_or_none(pieces, times):
    assert isinstance(is_mhtml("".join(pieces) * times), bool)
    xml_root("".join(pieces) * times)
