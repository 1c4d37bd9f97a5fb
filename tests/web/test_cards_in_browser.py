"""Cards for what is embedded, as they stand in an article."""

from pathlib import Path

from tests.chromium import chromium

STATIC = Path(__file__).parents[2] / "static"
STYLES = [STATIC / name for name in ("tokens.css", "elements.css", "pages.css")]
CARD = '<a class="embed" href="https://a.example/">Embedded from a.example</a>'
BELOW = """id => document.querySelector(`#${id} + p`).getBoundingClientRect().top
    - document.querySelector(`#${id} .embed, #${id} i`).getBoundingClientRect().bottom"""


async def test_a_card_has_about_the_room_below_it_that_a_figure_has():
    async with chromium() as browser:
        page = await browser.new_page()
        await page.set_content(
            f'<div class="text"><figure id="figure"><i style="display: block">x</i></figure>'
            f'<p>x</p><div id="alone">{CARD}</div><p>x</p><p id="inside">{CARD}</p><p>x</p></div>'
        )
        for style in STYLES:
            await page.add_style_tag(path=style)

        figure, alone, inside = [
            await page.evaluate(BELOW, each) for each in ("figure", "alone", "inside")
        ]

    assert figure > 10
    assert 0.8 * figure < alone < 1.3 * figure
    assert 0.8 * figure < inside < 1.3 * figure
