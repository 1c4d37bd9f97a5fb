from archiver.html.outline import MOST, outline
from archiver.html.sanitise import sanitise


def test_every_heading_has_an_id_and_stands_in_the_outline_by_its_depth():
    html = '<h2 id="a-x">One <em>and</em> two</h2><h4>Deep</h4><h3>A &amp; B</h3><h2> </h2>'

    named, found = outline(sanitise(html))

    assert [(each.id, each.words, each.depth) for each in found] == [
        ("a-x", "One and two", 0),
        ("h-2", "Deep", 2),
        ("h-3", "A & B", 1),
    ]
    assert 'h4 id="h-2">Deep' in named
    assert named.count("id=") == 3


def test_headings_without_end_are_counted_to_an_end():
    _, found = outline("<h2>x</h2>" * (MOST + 9))

    assert len(found) == MOST
