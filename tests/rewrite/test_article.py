from archiver.html.sanitise import sanitise
from archiver.rewrite.article import lead_to_entries, let_code_scroll, links_of

KEY = "0" * 32
HELD = {"http://a.example/x?a&b": KEY}


def test_links_to_what_is_kept_lead_to_the_entry_and_to_the_place_in_it():
    html = sanitise(
        '<p><a href="http://a.example/x?a&amp;b#p%20q" title="t">kept</a> '
        '<a href="http://b.example/">live</a> <a href="#n">note</a></p>'
    )

    led = lead_to_entries(html, HELD)

    assert f'<a class="held" href="/{KEY}/#a-p%20q" title="Kept here: http://a.example/' in led
    assert 'href="http://b.example/" rel="noopener noreferrer">live' in led
    assert 'href="#a-n"' in led
    assert links_of(html, 9) == ["http://a.example/x?a&b", "http://b.example/"]
    assert links_of(html, 1) == ["http://a.example/x?a&b"]


def test_code_can_be_reached_without_a_mouse():
    assert let_code_scroll('<pre class="a">x</pre><p>&lt;pre&gt;</p>') == (
        '<pre tabindex="0" class="a">x</pre><p>&lt;pre&gt;</p>'
    )
