"""Rewriting treats exactly those references as loaded that discovery finds.

Discovery reads the parsed tree, rewriting the source; both use one table.
"""

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from archiver.model.requisite import RequisiteKind
from archiver.pages.references import (
    EVERYWHERE,
    HTML,
    MATHML,
    REQUISITE_KINDS,
    SVG,
    SVG_ANY,
    ConditionalPointer,
    Form,
    is_loaded,
    resolve,
)

AROUND = {
    "body": "{}",
    "frame": "<frameset>{}</frameset>",
    "head": "{}",
    "html": "{}",
    **dict.fromkeys(("tbody", "tfoot", "thead"), "<table>{}</table>"),
    "tr": "<table><tbody>{}</table>",
    **dict.fromkeys(("td", "th"), "<table><tr>{}</table>"),
}
WAYS = {
    ("link", "href"): [
        {"rel": rel, "as": loaded_as}
        for rel in ("stylesheet", "shortcut icon", "manifest", "preload", "modulepreload", "next")
        for loaded_as in ("style", "font", "image", "video", "script", "fetch")
    ],
    ("object", "data"): [{}, {"type": "image/png"}, {"type": "text/html"}],
    ("embed", "src"): [{}, {"type": "image/png"}],
    ("param", "value"): [{"name": "movie"}, {"name": "quality"}],
    ("meta", "content"): [{"http-equiv": "refresh"}, {"name": "description"}],
}
ROWS = [
    *((AROUND.get(name, "<p>{}</p>"), name, rules) for name, rules in HTML.items()),
    ("{}", "div", EVERYWHERE),
    *(("<svg>{}</svg>", name, rules) for name, rules in SVG.items()),
    *(("<svg>{}</svg>", name, SVG_ANY) for name in ("use", "feImage", "rect", "linearGradient")),
    ("<svg><foreignObject>{}</foreignObject></svg>", "img", HTML["img"]),
    ("<svg><title>{}</title></svg>", "iframe", HTML["iframe"]),
    ("<noscript>{}</noscript>", "img", HTML["img"]),
    ("<template>{}</template>", "img", HTML["img"]),
    ("<math>{}</math>", "mglyph", MATHML),
]
MOVED = {"body", "form", "frame", "head", "html", "image"}
"""Elements that parsers drop or merge in some places if they are repeated."""
ANYWHERE = [row for row in ROWS if row[1] not in MOVED]
CASES = [
    (around, name, attribute, rule, others)
    for around, name, rules in ROWS
    for attribute, rule in rules.items()
    for others in WAYS.get((name, attribute), [{}])
]
VALUES = {
    Form.URL: "/{}.png",
    Form.SRCSET: "/{}.png 1x, /{}b.png 2x",
    Form.CSS: "background: url(/{}.png)",
    Form.DOCUMENT: "&lt;img src=/{}.png>",
}


def value_for(rule, name):
    """Return a value with a unique reference, in the form that the rule reads."""
    form = rule.form if not isinstance(rule, ConditionalPointer) else Form.URL
    return VALUES[form].replace("{}", name)


def element(name, attributes):
    written = "".join(f' {each}="{value}"' for each, value in attributes.items())
    return f"<{name}{written}>"


def test_each_table_row_is_discovered_with_the_use_that_rewriting_has(load, discover):
    for around, name, attribute, rule, other_attributes in CASES:
        given_attributes = {**other_attributes, attribute: value_for(rule, "x")}
        markup = around.format(element(name, given_attributes))
        pointer = resolve(rule, lambda each, attributes=given_attributes: attributes.get(each, ""))
        is_needed = pointer is not None and pointer.use in REQUISITE_KINDS

        result = discover(markup)

        assert result == load(markup), markup
        assert any(url == "https://example.com/x.png" for url, _ in result) == is_needed, markup
        if is_needed and pointer.form is not Form.DOCUMENT:
            assert {kind for _, kind in result} == {REQUISITE_KINDS[pointer.use]}, markup


def test_every_kind_of_resource_has_a_use():
    uses = {use for *_, rule, _ in CASES if is_loaded(rule) for use in _uses(rule)}

    assert {REQUISITE_KINDS[use] for use in uses if use in REQUISITE_KINDS} == {*RequisiteKind} - {
        RequisiteKind.PART
    }


def _uses(rule):
    return rule.uses if isinstance(rule, ConditionalPointer) else {rule.use}


@st.composite
def documents(draw):
    """Draw elements of the table in any order, each with a different reference."""
    numbers = count()
    parts = []
    for _ in range(draw(st.integers(1, 6))):
        around, name, rules = draw(st.sampled_from(ANYWHERE))
        rows = {**rules, **EVERYWHERE}
        generator = draw(st.lists(st.sampled_from([*rows]), unique=True, max_size=5))
        ways = [way for each in generator for way in WAYS.get((name, each), [{}])]
        other_attributes = draw(st.sampled_from(ways)) if ways else {}
        attributes = {each: value_for(rows[each], f"r{next(numbers)}") for each in generator}
        parts.append(around.format(element(name, {**other_attributes, **attributes})))
    sheet = draw(
        st.sampled_from(["", "<style>@import '/i.css'; @font-face{src:url(/f.woff)}</style>"])
    )
    base = draw(st.sampled_from(["", "<base href=/b/>"]))
    return base + sheet + "".join(parts)


@given(documents())
def test_discovery_and_rewriting_agree_on_loaded_references(load, discover, markup):
    assert discover(markup) == load(markup)
