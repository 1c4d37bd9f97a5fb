"""Parts of an article, for ``benchmarks/reading.py``, each with keys for comparison.

A picture is identified by its URLs, a paragraph or a cell by its words, code by its lines, a
formula by its source. White space is ignored: some of the expected articles of Readability's
tests lack line breaks in code and cells.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.pages.references import find_candidates

PARTS = (
    "paragraphs",
    "pictures",
    "figures",
    "captions",
    "headings",
    "list items",
    "tables",
    "code",
    "formulas",
    "links",
    "embeds",
)
MAX_BLOCK = 40
"""Number of words that identify a block of text."""
MAX_TABLE = 200
"""Number of characters that identify a table."""

_SOURCES = ("src", "data-src", "data-lazy-src", "data-original", "data-original-src", "data-url")
_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_BLOCKS = frozenset(
    "address article aside blockquote body br dd details div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody "
    "td tfoot th thead tr ul caption".split()
)
_SILENT = frozenset({"script", "style", "noscript", "template", "head", "title", "math", "svg"})
_KINDS = {
    "img": "pictures",
    "figure": "figures",
    "figcaption": "captions",
    "caption": "captions",
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "headings"),
    **dict.fromkeys(("li", "dt", "dd"), "list items"),
    "table": "tables",
    "pre": "code",
    "a": "links",
    **dict.fromkeys(("iframe", "embed", "object", "video", "audio"), "embeds"),
}
_FEWEST_CELLS = 2
_TEX = re.compile(r"math/tex|application/x-tex")
_DELIMITED = re.compile(
    r"\$\$.+?\$\$|\\\(.+?\\\)|\\\[.+?\\\]|\\begin\{(\w+\*?)\}.+?\\end\{\1\}|\$[^$]{1,300}\$",
    re.DOTALL,
)
"""Pattern for LaTeX in the text, which does not count as words."""

_PLAYERS = re.compile(
    r"youtube|youtu\.be|vimeo|dailymotion|twitch|player|embed|spotify|soundcloud|maps|gist|tweet"
    r"|twitter|instagram|codepen|bandcamp|slideshare|ted\.com",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Parts:
    """The text of an article, its words, and its parts by kind, each as a set of keys.

    Parts of two articles are equal if they share a key.
    """

    text: str
    words: tuple[str, ...]
    found: dict[str, list[frozenset[str]]]


def take_apart(html: str, url: str) -> Parts:
    """Return the parts of an article."""
    tree = LexborHTMLParser(html)
    root = tree.body or tree.root
    blocks = [*_blocks(root)] if root else []
    parts: dict[str, list[frozenset[str]]] = {kind: [] for kind in PARTS}
    parts["paragraphs"] = [frozenset({each}) for each in blocks if len(each.split()) >= 5]
    for node in tree.css(
        "img, figure, figcaption, caption, h1, h2, h3, h4, h5, h6, li, dt, dd, table, pre, a[href],"
        "iframe, video, audio, embed, object, math, .katex, mjx-container, .MathJax, "
        "script[type^='math/tex'], code.language-tex, .math"
    ):
        for kind, key in _part(node, url):
            if key:
                parts[kind].append(key)
    parts["formulas"] += [_source(each[0]) for each in _DELIMITED.finditer(_prose(root))]
    return Parts("\n".join(blocks), tuple(" ".join(blocks).split()), parts)


def _part(node: LexborNode, url: str) -> Iterator[tuple[str, frozenset[str]]]:
    tag = node.tag or ""
    kind = _KINDS.get(tag, "formulas")
    if kind == "pictures":
        yield kind, _picture(node, url)
    elif kind == "figures":
        pictures = frozenset().union(*(_picture(each, url) for each in node.css("img")))
        yield kind, pictures or _words_key(node)
    elif kind == "code":
        yield kind, frozenset() if _is_within(node, "pre") else _code(node)
    elif kind == "links":
        yield kind, frozenset({_address(node.attributes.get("href") or "", url)} - {""})
    elif kind == "embeds":
        yield kind, _embed(node, url)
    elif kind != "formulas":
        is_layout = kind == "tables" and len(node.css("td, th")) < _FEWEST_CELLS
        run_together = _run_together(node) if kind == "tables" else frozenset()
        words = _heading_key(node) if kind == "headings" else _words_key(node)
        yield kind, frozenset() if is_layout else words | run_together
    elif not _is_within_formula(node):
        yield kind, _formula(node)


def _picture(node: LexborNode, url: str) -> frozenset[str]:
    attributes = node.attributes
    sources = [attributes.get(name) or "" for name in _SOURCES]
    sets = [attributes.get(name) or "" for name in _SETS]
    parent = node.parent
    if parent is not None and parent.tag == "picture":
        sets += [each.attributes.get("srcset") or "" for each in parent.css("source")]
    for value in sets:
        sources += [value[start:end] for start, end in find_candidates(value)]
    return frozenset(_address(each, url) for each in sources if each.strip()) - {""}


def _address(text: str, url: str) -> str:
    """Return a URL in comparable form: a fragment unchanged, a data URL shortened."""
    text = text.strip()
    if text.startswith("data:"):
        return "".join(text.split())[:200]
    if text.startswith("#"):
        return ""
    try:
        whole = urljoin(url, text)
    except ValueError:
        return ""
    return unquote(whole.split("#")[0]).split("://")[-1].rstrip("/")


def _embed(node: LexborNode, url: str) -> frozenset[str]:
    """Return the URLs of media; the URL of a frame only if it belongs to a known player."""
    attributes = node.attributes
    sources = [attributes.get(name) or "" for name in ("src", "data-src", "data")]
    sources += [each.attributes.get("src") or "" for each in node.css("source")]
    addresses = {_address(each, url) for each in sources if each.strip()} - {""}
    if node.tag in {"iframe", "embed", "object"}:
        addresses = {each for each in addresses if _PLAYERS.search(each)}
    return frozenset(addresses)


def embed_name(address: str) -> str:
    """Return the id at the end of a media URL, which a link and a player of the media share."""
    return re.split(r"[?&#]", address.rstrip("/"))[0].rsplit("/", 1)[-1]


def _code(node: LexborNode) -> frozenset[str]:
    pieces = (
        "\n" if each.tag == "br" else each.text_content or ""
        for each in node.traverse(include_text=True)
        if each.tag in {"br", "-text"}
    )
    lines = "\n".join(line.rstrip() for line in "".join(pieces).split("\n")).strip("\n")
    return frozenset({lines, lines.replace("\n", "")} if lines else ())


def _is_within(node: LexborNode, tag: str) -> bool:
    """Return whether a node is inside an element with the name ``tag``."""
    above = node.parent
    while above is not None and above.tag != tag:
        above = above.parent
    return above is not None


def _is_within_formula(node: LexborNode) -> bool:
    above = node.parent
    while above is not None:
        classes = (above.attributes.get("class") or "").split()
        if above.tag in {"math", "mjx-container"} or {"katex", "MathJax", "math"} & set(classes):
            return True
        above = above.parent
    return False


def _formula(node: LexborNode) -> frozenset[str]:
    """Return the source of a formula, or its characters if there is none."""
    keys = set()
    if node.tag == "script" and _TEX.search(node.attributes.get("type") or ""):
        keys.add(node.text() or "")
    keys |= {each.text() or "" for each in node.css("annotation[encoding*='tex' i]")}
    keys.add(node.attributes.get("alttext") or "")
    if not any(keys):
        source = node.css_first("math")
        keys.add((source or node).text() or "")
    return frozenset().union(*map(_source, keys))


def _prose(root: LexborNode | None) -> str:
    """Return the text outside of code."""
    pieces: list[str] = []
    stack = [root] if root else []
    while stack:
        node = stack.pop()
        if node.tag == "-text":
            pieces.append(node.text_content or "")
        elif node.tag not in _SILENT and not _is_written(node):
            stack += reversed([*node.iter(include_text=True)])
    return "".join(pieces)


def _is_written(node: LexborNode) -> bool:
    classes = (node.attributes.get("class") or "").split()
    return node.tag in {"pre", "code", "mjx-container"} or bool({"math", "katex"} & set(classes))


def _source(written: str) -> frozenset[str]:
    return frozenset({re.sub(r"\\[()\[\]]|\$|\s", "", written)}) - {""}


def _words_key(node: LexborNode) -> frozenset[str]:
    words = " ".join(_blocks(node)).split()[:MAX_BLOCK]
    return frozenset({" ".join(words)} if words else ())


def _heading_key(node: LexborNode) -> frozenset[str]:
    """Return the words of a heading, without permalink signs (¶, #)."""
    words = [each for key in _words_key(node) for each in key.split()]
    named = [each.rstrip("\u00b6#\U0001f517") for each in words if any(map(str.isalnum, each))]
    return frozenset({" ".join(named)} if named else ())


def _run_together(node: LexborNode) -> frozenset[str]:
    """Return the words of a table without spaces, so that line breaks do not matter."""
    return frozenset({"".join("".join(_blocks(node)).split())[:MAX_TABLE]}) - {""}


def _blocks(root: LexborNode) -> Iterator[str]:
    """Yield the text of each block with direct text, in order; white space is collapsed."""
    pieces: list[str] = []
    for node in _text_and_breaks(root):
        if isinstance(node, str):
            pieces.append(node)
        elif pieces:
            if text := " ".join("".join(pieces).split()):
                yield text
            pieces.clear()
    if text := " ".join("".join(pieces).split()):
        yield text


def _text_and_breaks(root: LexborNode) -> Iterator[str | None]:
    """Yield text, and None at each start and end of a block."""
    stack: list[LexborNode | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            yield None
            continue
        tag = node.tag or ""
        if tag in {"pre", "code"}:
            yield from _words_of_code(node)
        elif tag == "-text":
            yield _DELIMITED.sub(" ", node.text_content or "")
        elif tag not in _SILENT:
            if tag in _BLOCKS:
                yield None
                stack.append(None)
            stack += reversed([*node.iter(include_text=True)])


def _words_of_code(node: LexborNode) -> Iterator[str | None]:
    """Yield the text of a ``pre`` or ``code`` element; empty for inline LaTeX."""
    if node.tag == "pre":
        yield from (None, node.text(), None)
    elif "language-tex" not in (node.attributes.get("class") or ""):
        yield node.text()


def shared(expected: list[frozenset[str]], extracted: list[frozenset[str]]) -> int:
    """Return how many expected parts were extracted; each extracted part counts once."""
    places: dict[str, list[int]] = {}
    for place, keys in enumerate(extracted):
        for key in keys:
            places.setdefault(key, []).append(place)
    used: set[int] = set()
    for keys in expected:
        unused = [n for key in keys for n in places.get(key, ()) if n not in used]
        alike = (n for n in unused if extracted[n] == keys)
        best = next(alike, unused[0] if unused else None)
        if best is not None:
            used.add(best)
    return len(used)
