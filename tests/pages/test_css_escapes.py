"""Names in style sheets may contain escapes, as in browsers."""

import pytest

from archiver.pages.requisites import find_sheet_requisites


@pytest.mark.parametrize(
    "css",
    [
        r"a { background: u\72l(x.png) }",
        r"a { background: \75 \000072\6C(x.png) }",
        r"a { background: U\RL('x.png') }",
        r"@\69mport 'x.png';",
        r"a { background: image-\73 et('x.png' 1x) }",
    ],
)
def test_a_name_with_escapes_is_that_name(css):
    assert [each.url for each in find_sheet_requisites(css, "http://a.example/")] == [
        "http://a.example/x.png"
    ]
