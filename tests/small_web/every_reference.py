"""A page with every way in which a page can load something.

Each cell uses one construct of HTML, CSS, SVG or MathML to show a resource with its unique colour.
``every_reference.txt`` has the markup, then rules of style sheets.
"""

import base64
import re
from hashlib import md5
from pathlib import Path

from tests.small_web.matter import FONT, opened, png

SIDE, ACROSS, WIDTH = 30, 23, 700
HERE = Path(__file__).parent
ELEMENTS, RULES = (
    dict(line.split(" | ", 1) for line in part.splitlines())
    for part in (HERE / "every_reference.txt").read_text().split("\n\n")
)
CELLS = ELEMENTS | RULES
DRAWING = (HERE / "every_reference.svg").read_text()
PLAIN = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="99" height="99" fill="#123"/></svg>'
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="15"/>'
BOX, BOXED = "width=30 height=30", 'width="30" height="30"'
MASKED = "background: rgb(3,133,83);"
STYLE = """body, :where(.cell > *) { margin: 0 }
.cell { position: absolute; width: 30px; height: 30px; overflow: hidden; container-type: size }
:where(.cell > :not(table, style, link, template)) { display: block; border: 0; padding: 0 }
:where(.cell i) { width: 30px; height: 30px }"""
WHITE = (255, 255, 255)


def data(content, kind):
    return f"data:{kind};base64,{base64.b64encode(content.encode()).decode()}"


def files(name, origin):
    """Return the files that cells load, by name."""
    colour = bytes(each % 200 for each in md5(name.encode()).digest()[:3])
    drawing = DRAWING.replace("SHADE", f"#{colour.hex()}")
    picture, sheet = png(*colour), "[class~=%s] { display: block; height: 30px; background: %s }"
    return {
        f"{name}.png": ("image/png", picture),
        f"html-{name}.png": ("text/html", picture),
        f"{name}.svg": ("image/svg+xml", drawing),
        f"{name}.html": ("text/html", f"<body style=margin:0><img src={origin}/{name}.png {BOX}>"),
        f"legacy-{name}.html": (
            "text/html; charset=windows-1251",
            f"<body style=margin:0><img src={name}.png?Слово {BOX}>".encode("cp1251"),
        ),
        f"frames-{name}.html": ("text/html", f"<frameset><frame src={name}.html></frameset>"),
        f"{name}.xhtml": (
            "application/xhtml+xml",
            f"""<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head/><h:body style="margin:0">
            <h:img style="position:absolute;top:0" src="{name}.png" {BOXED}/></h:body></h:html>""",
        ),
        f"{name}.xml": (
            "application/xml",
            f'<?xml-stylesheet href="{name}.css"?><p><i class="{name}"/></p>',
        ),
        f"styled-{name}.svg": (
            "image/svg+xml",
            f"""<?xml-stylesheet href="fill-{name}.css"?><svg xmlns="http://www.w3.org/2000/svg">
            <image {BOXED} href="{name}.png"/><rect y="15" {BOXED}/></svg>""",
        ),
        f"fill-{name}.css": ("text/css", f"rect {{ fill: #{colour.hex()} }}"),
        f"{name}.css": ("text/css", sheet % (name, f"url({origin}/{name}.png)")),
        f"imports-{name}.css": ("text/css", f"@import '{name}.css'"),
        f"{name}.ttf": ("font/ttf", FONT),
    }


def build_page(origin):
    """Return the page and its files."""
    cells, loaded = [], {
        "film.webm": ("video/webm", (HERE / "green.webm").read_bytes()),
        "none.vtt": ("text/vtt", "WEBVTT"),
        "empty.svg": ("image/svg+xml", EMPTY),
    }  # fmt: skip
    for number, (construct, markup) in enumerate(CELLS.items()):
        name = re.sub("[^a-z]", "-", construct.lower()).strip("-")
        replaced_files = files(name, origin)
        loaded |= replaced_files
        rules = markup if construct == "nesting" else markup.replace("&", ".NAME")
        filled = f"<style>{rules}</style><i class=NAME></i>" if construct in RULES else markup
        for mark, text in {
            "PICTURE": data(replaced_files[f"{name}.html"][1], "text/html"),
            "SHEET": data(replaced_files[f"{name}.css"][1], "text/css"),
            "DRAWING": data(replaced_files[f"{name}.svg"][1], "image/svg+xml"),
            "PLAIN": data(PLAIN, "image/svg+xml"),
            "PNG": base64.b64encode(replaced_files[f"{name}.png"][1]).decode(),
            "MASKED": MASKED,
            "BOX": BOX,
            "NAME": name,
        }.items():
            filled = filled.replace(mark, text)
        place = f"left:{number % ACROSS * SIDE}px;top:{number // ACROSS * SIDE}px"
        cells.append(f"<div class=cell style='{place}'>{filled}</div>")
    text = f"<!DOCTYPE html><meta charset=utf-8><style>{STYLE}</style>{''.join(cells)}"
    return {f"/{name}": each for name, each in loaded.items()} | {"/": ("text/html", text)}


def colours_of(picture):
    """Return the colours in the upper and lower half of each cell."""
    image, result = opened(picture), {}
    for number, construct in enumerate(CELLS):
        left, top = number % ACROSS * SIDE + 15, number // ACROSS * SIDE
        upper, lower = (image.getpixel((left, top + down)) for down in (7, 25))
        result[construct] = upper, lower
    return result


def are_close(one, other):
    """Return whether two lists of colours are equal. A channel may differ by one."""
    pairs = zip(sum(one, ()), sum(other, ()), strict=True)
    return all(abs(mine - theirs) <= 1 for mine, theirs in pairs)
